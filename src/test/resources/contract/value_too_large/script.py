def main():
    return "x" * 100
