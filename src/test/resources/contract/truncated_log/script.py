def main():
    for n in range(100):
        print(f"line {n:04}")
