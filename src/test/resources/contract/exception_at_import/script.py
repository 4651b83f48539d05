print("importing")
LIMIT = 1 // 0


def main():
    return LIMIT
