def main():
    print("é" * 5 + "x")
    print("exactly te")
