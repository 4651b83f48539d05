"""Prints what the tests before have written into `target/left-out.txt`, and removes that: the run's last word."""

from pathlib import Path

FILE = Path(__file__).resolve().parents[3] / "target/left-out.txt"


def print_left_out() -> None:
    """Once: the next run starts with nothing left out."""
    if FILE.exists():
        print(f"\n{FILE.read_text(encoding='utf-8').strip()}\n", flush=True)
        FILE.unlink()


if __name__ == "__main__":
    print_left_out()
