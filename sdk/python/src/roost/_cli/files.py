"""The files that people write, read with errors that say where what is wrong."""

from __future__ import annotations

from pathlib import Path

from .env_file import parse_env_file
from .mistakes import Mistakes, ProjectError
from .requirements import mistake_in, requirement_lines

__all__ = ["read_env_file", "read_requirements", "read_text"]


def read_text(path: Path) -> str:
    """Return a file's text; ProjectError when it isn't there or isn't UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ProjectError(f"{path}: byte {error.start} is not UTF-8. Save it as UTF-8") from None
    except OSError as error:
        raise ProjectError(f"{path}: {error.strerror}") from None


def read_requirements(path: Path) -> list[str]:
    """Return the requirements of a file; ProjectError with the lines that Roost doesn't take."""
    mistakes = Mistakes(path)
    lines = requirement_lines(read_text(path))
    for number, line in lines:
        wrong = mistake_in(line)
        if wrong:
            mistakes.add(number, wrong)
    mistakes.raise_any()
    return [line for _, line in lines]


def read_env_file(path: Path) -> dict[str, str]:
    """Return the variables of a file of `KEY=VALUE` lines; ProjectError with the wrong lines."""
    mistakes = Mistakes(path)
    values, wrong = parse_env_file(read_text(path))
    for number, message in wrong:
        mistakes.add(number, message)
    mistakes.raise_any()
    return values
