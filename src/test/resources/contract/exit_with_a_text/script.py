import sys


def main():
    sys.exit("nothing to do")
