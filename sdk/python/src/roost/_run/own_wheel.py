"""This SDK as a wheel, for agents that require `roost`, on a server or with `roost run`.

Reproducible: no compression, and one time for all files.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._version import VERSION
from .failures import CannotRun
from .sources import program

__all__ = ["NAME", "identity", "is_required", "make", "pack"]

NAME = f"roost-{VERSION}-py3-none-any.whl"
_INFORMATION = f"roost-{VERSION}.dist-info"
_WHEEL = "Wheel-Version: 1.0\nGenerator: roost\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest time of a ZIP archive
_PROGRAMS = ("roost_executor", "roost_builder")
_ROOST = re.compile(r"\s*roost\s*(?:[\[;=#]|$)", re.IGNORECASE)


def is_required(requirements: Sequence[str]) -> bool:
    """Return whether one of the requirements is this package."""
    return any(_ROOST.match(line) for line in requirements)


def make(directory: Path) -> Path:
    """Write the wheel with this installation's metadata.

    Raises `CannotRun` if roost isn't installed but only on the path.
    """
    from importlib import metadata

    try:
        distribution = metadata.distribution("roost")
    except metadata.PackageNotFoundError:
        raise CannotRun(
            "the agent requires roost, but this roost is only on the path, not installed"
        ) from None
    own = {name: distribution.read_text(name) or "" for name in ("METADATA", "entry_points.txt")}
    return pack(directory, own)


def pack(directory: Path, information: Mapping[str, str]) -> Path:
    """Write the wheel of these sources. `information`: files of its `.dist-info`."""
    files = _modules()
    for name, text in {**information, "WHEEL": _WHEEL}.items():
        files[f"{_INFORMATION}/{name}"] = text.encode()
    record = f"{_INFORMATION}/RECORD"
    files[record] = ("".join(map(_entry, files, files.values())) + f"{record},,\n").encode()
    with zipfile.ZipFile(directory / NAME, "w", zipfile.ZIP_STORED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, _TIME)
            entry.create_system = 3  # Unix attributes
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return directory / NAME


def identity() -> str:
    """Return a digest of these sources."""
    digest = hashlib.sha256()
    for path, content in _modules().items():
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _modules() -> dict[str, bytes]:
    files = _sources(Path(__file__).parent.parent, "roost")
    for name in _PROGRAMS:
        files.update(_sources(program(name), f"roost/_executor/{name}"))
    return files


def _sources(directory: Path, target: str) -> dict[str, bytes]:
    paths = (path.relative_to(directory) for path in sorted(directory.rglob("*")))
    included = [path for path in paths if path.suffix == ".py" or path.name == "py.typed"]
    return {
        f"{target}/{path.as_posix()}": (directory / path).read_bytes()
        for path in included
        if path.parts[0] != "_executor"  # found by `program`
    }


def _entry(path: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"{path},sha256={digest.decode()},{len(content)}\n"
