"""What goes with a run: JSON values from an argument, a file or standard input, and files."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .failures import Failure

__all__ = ["named_files", "read_json", "read_payload"]


def read_payload(argument: str | None) -> Any:
    """Return the value of `--payload`, or `NOT_GIVEN` without the option."""
    from .._values import NOT_GIVEN

    return NOT_GIVEN if argument is None else read_json(argument, "--payload")


def named_files(given: Sequence[str]) -> dict[str, Path]:
    """Return the paths of `--file NAME=PATH`, by name. Raises `UsageError`."""
    files: dict[str, Path] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--file {text}: expected NAME=PATH.")
        if not Path(path).is_file():
            raise click.UsageError(f"--file {text}: there is no file {path}.")
        files[name] = Path(path)
    return files


def read_json(argument: str, what: str) -> Any:
    """Return the value of JSON text, of `@FILE`, or of standard input for `-`.

    Raises `Failure`, with a message that begins with `what`.
    """
    text, source = _text(argument, what)
    try:
        return json.loads(text)
    except RecursionError:
        raise Failure(f"{what} is nested too deeply.") from None
    except ValueError as error:
        advice = ""
        if source is None and text.strip()[:1] not in ("{", "[", '"', ""):
            advice = f" A JSON string needs quotes: '{json.dumps(text, ensure_ascii=False)}'."
        where = "" if source is None else f" in {source}"
        raise Failure(f"{what} is not JSON{where}: {error}.{advice}") from None


def _text(argument: str, what: str) -> tuple[str, str | None]:
    if argument == "-":
        try:
            return sys.stdin.buffer.read().decode("utf-8"), "standard input"
        except UnicodeDecodeError:
            raise Failure(f"{what}: standard input is not UTF-8 text.") from None
    if not argument.startswith("@"):
        return argument, None
    path = Path(argument[1:])
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except OSError as error:
        raise Failure(f"{what}: {path} can't be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Failure(f"{what}: {path} is not UTF-8 text.") from None
