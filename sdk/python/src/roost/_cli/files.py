"""Reading of a project's files, with errors that name file and line."""

from __future__ import annotations

from pathlib import Path

from .env_file import parse_env_file
from .mistakes import Mistakes, ProjectError
from .requirements import mistake_in, requirement_lines

__all__ = ["read_env_file", "read_requirements", "read_text"]


def read_text(path: Path) -> str:
    """Return a file's text; ProjectError if it doesn't exist or isn't UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ProjectError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from None
    except OSError as error:
        raise ProjectError(f"{path}: {error.strerror}") from None


def read_requirements(path: Path) -> list[str]:
    """Return a file's requirements; ProjectError for lines that Roost doesn't accept."""
    mistakes = Mistakes(path)
    lines = requirement_lines(read_text(path))
    for number, line in lines:
        wrong = mistake_in(line)
        if wrong:
            mistakes.add(number, wrong)
    mistakes.raise_any()
    return [line for _, line in lines]


def read_env_file(path: Path) -> dict[str, str]:
    """Return a file's variables, as `KEY=VALUE` lines; ProjectError for invalid lines."""
    mistakes = Mistakes(path)
    values, wrong = parse_env_file(read_text(path))
    for number, message in wrong:
        mistakes.add(number, message)
    mistakes.raise_any()
    return values
