"""Writes docs/reference from what the server, the SDK and the command line say of themselves.

    python3 src/test/python/tools.py src/test/python/docs/reference.py --write

Without `--write` it only says what isn't current, with status 1. The REST reference needs a server (ROOST_TEST_URL) and is
left out without one; test_reference.py checks all of them.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
REFERENCE = ROOT / "docs/reference"
SDK = ROOT / "sdk/python/src"
NOTE = "<!-- Written by src/test/python/docs/reference.py; don't edit. -->\n\n"


def pages() -> "dict[Path, str]":
    """The text of each page that can be written here."""
    sys.path.insert(0, str(SDK))
    import reference_command_line
    import reference_python
    import reference_rest

    texts = {"python.md": reference_python.page(), "command-line.md": reference_command_line.page()}
    if url := os.environ.get("ROOST_TEST_URL"):
        texts["rest.md"] = reference_rest.page(url)
    return {REFERENCE / name: NOTE + text.rstrip() + "\n" for name, text in texts.items()}


def outdated() -> "dict[Path, str]":
    """The pages that are not as they are written now."""
    return {
        path: text for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text
    }


if __name__ == "__main__":
    REFERENCE.mkdir(exist_ok=True)
    changed = outdated()
    for path, text in changed.items():
        if "--write" in sys.argv:
            path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT), "is written" if "--write" in sys.argv else "is not current")
    sys.exit(bool(changed) and "--write" not in sys.argv)
