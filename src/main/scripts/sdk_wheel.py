"""Packs the SDK as a wheel, which travels inside the application for agents that require it.

    python3 sdk_wheel.py DIRECTORY

Leaves one file in DIRECTORY: `roost-VERSION-py3-none-any.whl`, with what the build backend of `sdk/python` puts into
its wheel. It needs no package index and nothing but this Python, so that the server can be packaged without either.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
from pathlib import Path

SDK = Path(__file__).resolve().parents[3] / "sdk/python"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SDK / "src"))

from roost import __version__  # noqa: E402 - found by now
from roost._run import own_wheel  # noqa: E402


def main(directory: Path) -> None:
    """Writes the wheel; what was there before is gone."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    project = tables((SDK / "pyproject.toml").read_text(encoding="utf-8"))
    scripts = "".join(f"{name} = {target}\n" for name, target in sorted(project["project.scripts"].items()))
    information = {
        "METADATA": metadata(project),
        "entry_points.txt": "[console_scripts]\n" + scripts,
        "licenses/LICENSE": (SDK / "LICENSE").read_text(encoding="utf-8"),
    }
    own_wheel.pack(directory, information)


def metadata(project: dict[str, dict[str, object]]) -> str:
    """The core metadata, without the long description."""
    fields = project["project"]
    lines = ["Metadata-Version: 2.4", f"Name: {fields['name']}", f"Version: {__version__}"]
    lines += [f"Summary: {fields['description']}", f"License-Expression: {fields['license']}", "License-File: LICENSE"]
    lines += [f"Classifier: {each}" for each in fields["classifiers"]]
    lines.append(f"Requires-Python: {fields['requires-python']}")
    lines += [f"Requires-Dist: {each}" for each in fields["dependencies"]]
    for extra, needed in sorted(project["project.optional-dependencies"].items()):
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {each}; extra == '{extra}'" for each in needed]
    return "\n".join(lines) + "\n"


def tables(text: str) -> dict[str, dict[str, object]]:
    """The tables of a pyproject.toml, as far as its values are strings and lists of strings.

    `tomllib` came with Python 3.11. Such values mean the same in Python as in TOML.
    """
    found: dict[str, dict[str, object]] = {}
    table: dict[str, object] = {}
    for name, key, value in re.findall(
        r'^\[([^\[\]\n]+)\]$|^([a-z-]+) = ("[^"\\\n]*"|\[(?:"[^"\\\n]*"|#[^\n]*|[\s,])*\])', text, re.MULTILINE
    ):
        if name:
            table = found.setdefault(name, {})
        else:
            table[key] = ast.literal_eval(value)
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
