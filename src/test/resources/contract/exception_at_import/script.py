print("importing")
raise RuntimeError("not configured")


def main():
    pass
