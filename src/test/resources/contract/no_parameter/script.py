def main():
    print("no parameter, no value")
