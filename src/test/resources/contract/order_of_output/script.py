import logging
import subprocess
import sys


def main():
    print("first, on stdout")
    print("second, on stderr", file=sys.stderr)
    logging.getLogger("app.part").warning("third, by logging")
    sys.stdout.write("fourth, ")
    subprocess.run(["echo", "by a child process"], check=True)
    logging.info("fifth\nand sixth")
    print("last, without a newline", end="", file=sys.stderr)
