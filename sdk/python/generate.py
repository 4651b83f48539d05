"""Makes `src/roost/_sync` from `src/roost/_async`, so that there is one source for both.

    python3 generate.py [--check]

What has no counterpart without `async` is written by hand in both: see `BY_HAND`. With `--check`
nothing is written, and the status is 1 when a file is not as it would be. Needs ruff.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "src/roost/_async"
TARGET = HERE / "src/roost/_sync"
HEADER = "# Made by generate.py from {}; change that.\n"
BY_HAND = {"__init__.py", "_concurrency.py", "_mapping.py"}
LEFT_OUT = {"_stream.py"}  # a generator is all of that

WORDS = {
    "AsyncClient": "Client",
    "AsyncGenerator": "Generator",
    "AsyncHTTPTransport": "HTTPTransport",
    "AsyncIterator": "Iterator",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "aclose": "close",
    "aclosing": "closing",
    "aiter_bytes": "iter_bytes",
    "aread": "read",
    "asleep": "sleep",
    "asynccontextmanager": "contextmanager",
}
PHRASES = {
    "from ._stream import Items\n": "from collections.abc import Iterable\n",
    "from ._stream import Stream\n": "from collections.abc import Generator\n",
    "from ._stream import Items, Stream\n": "from collections.abc import Generator, Iterable\n",
    '"Now" is when a block of `async with` begins, or else when the first is taken.': (
        '"Now" is when this is called, not when the first is taken.'
    ),
    "an async with block": "a with block",
    "an `async with` block": "a `with` block",
    "by one task at a time": "by one thread",
    "`async with` block": "`with` block",
}
# Names with brackets, and what becomes of what stands between these.
GENERICS: dict[str, Callable[[str], str]] = {
    "AsyncGenerator": lambda inside: f"Generator[{inside.rpartition(',')[0]}, None, None]",
    "Items": "Iterable[{}]".format,
    "Stream": "Generator[{}, None, None]".format,
    "Awaitable": "{}".format,
}


def without_async(text: str) -> str:
    """Return the code that does the same without `async`."""
    for name, convert in GENERICS.items():
        text = _converted(text, name, convert)
    for phrase, replacement in PHRASES.items():
        text = text.replace(phrase, replacement)
    text = re.sub(r"\b(?:async|await) ", "", text)
    # `Awaitable` is gone; its import goes by itself, as one that nothing uses.
    return re.sub(r"\b\w+\b", lambda word: WORDS.get(word[0], word[0]), text)


def _converted(text: str, name: str, convert: Callable[[str], str]) -> str:
    """Replace every `name[…]`; brackets may stand within the brackets."""
    done: list[str] = []
    while (found := re.search(rf"\b{name}\[", text)) is not None:
        end = _closing(text, found.end())
        inside = _converted(text[found.end() : end], name, convert)
        done += text[: found.start()], convert(inside)
        text = text[end + 1 :]
    return "".join((*done, text))


def _closing(text: str, start: int) -> int:
    depth = 1
    for place in range(start, len(text)):
        depth += {"[": 1, "]": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise ValueError(f"a bracket stays open: {text[start : start + 40]!r}")


def formatted(text: str, path: Path) -> str:
    """Return the code with its imports in order, none of them unused, and laid out as all is."""
    for tool in (["check", "--select=F401,I", "--fix", "--quiet"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *tool, "--stdin-filename", str(path), "-"]
        done = subprocess.run(
            command, input=text, cwd=HERE, capture_output=True, check=True, encoding="utf-8"
        )
        text = done.stdout
    return text


def generated() -> dict[Path, str]:
    """Return what is to be in each file."""
    sources = [path for path in sorted(SOURCE.glob("*.py")) if path.name not in BY_HAND | LEFT_OUT]
    return {
        TARGET / path.name: formatted(
            HEADER.format(path.relative_to(HERE).as_posix())
            + without_async(path.read_text(encoding="utf-8")),
            TARGET / path.name,
        )
        for path in sources
    }


def main() -> int:
    """Write the files, or say which would be changed; 1 when there are such."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    files = generated()
    there = {path for path in TARGET.glob("*.py") if path.name not in BY_HAND}
    stale = sorted(there - files.keys())
    changed = [
        path
        for path, text in files.items()
        if path not in there or path.read_text(encoding="utf-8") != text
    ]
    for path in [*changed, *stale]:
        print(f"{'would change' if check else 'changed'}: {path.relative_to(HERE)}")
    if not check:
        for path in changed:
            path.write_text(files[path], encoding="utf-8")
        for path in stale:
            path.unlink()
    return int(check and bool(changed or stale))


if __name__ == "__main__":
    sys.exit(main())
