import time


def main():
    print("waiting")
    time.sleep(600)
