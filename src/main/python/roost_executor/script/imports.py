"""What a script imports: the modules that a template may import once for all executions."""

import os
import re
import sys
import sysconfig
import time
from types import ModuleType
from typing import Any

from roost_executor.script.script import MODULE as SCRIPT

MOST_MODULES = 5000
MOST_PACKAGES = 300
NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")
LONGEST_NAME = 200
BUILT_IN = ("built-in", "frozen")


class Imports:
    """Observes the import of a script, from its creation to `found`."""

    def __init__(self) -> None:
        self._before = frozenset(sys.modules)
        self._started = time.monotonic()

    def found(self) -> "dict[str, Any]":
        """`modules`: those of installed packages and of the standard library that have been imported since, in the
        order in which their imports began. `seconds`: since then."""
        seconds = time.monotonic() - self._started
        places = environment_paths()
        names = [
            name
            for name, module in list(sys.modules.items())
            if name not in self._before and is_name(name) and _is_installed(name, module, places)
        ]
        return {"modules": names[:MOST_MODULES], "seconds": seconds}


def is_name(name: object) -> bool:
    """Whether it can be the name of a module that a template imports: not the script, and nothing made up."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME or NAME.match(name) is None:
        return False
    return name.partition(".")[0] not in (SCRIPT, "__main__")


def environment_paths() -> "tuple[str, ...]":
    """The directories of the standard library and of installed packages."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    # Real paths, since a virtual environment's interpreter may have come by a link.
    found = {os.path.realpath(path) for name in names for path in (sysconfig.get_path(name),) if path}
    found.update(
        os.path.realpath(path) for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")
    )
    return tuple(path + os.sep for path in found)


def installed_packages() -> "list[str]":
    """The top-level names of modules in this process that belong to installed packages, sorted."""
    paths = {os.path.realpath(path) for name in ("purelib", "platlib") for path in (sysconfig.get_path(name),) if path}
    places = tuple(path + os.sep for path in paths)
    found = {
        name.partition(".")[0]
        for name, module in list(sys.modules.items())
        if is_name(name) and (_origin(name, module) or "").startswith(places)
    }
    return sorted(name for name in found if not name.startswith("_"))[:MOST_PACKAGES]


def _is_installed(name: str, module: "ModuleType | None", places: "tuple[str, ...]") -> bool:
    origin = _origin(name, module)
    return origin is not None and (origin in BUILT_IN or origin.startswith(places))


def _origin(name: str, module: "ModuleType | None") -> "str | None":
    """The real path of the file that the module comes from, or one of BUILT_IN; None if it has none of its own."""
    spec = getattr(module, "__spec__", None)
    # Some names are aliases, like os.path, or were put there by a package, like six.moves.
    if spec is None or getattr(spec, "name", None) != name:
        return None
    origin = getattr(spec, "origin", None)  # None for a namespace package, imported with what is in it
    return origin if origin is None or origin in BUILT_IN else os.path.realpath(origin)
