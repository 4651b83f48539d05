"""The code of a project's modules, compiled once in a template for all executions that are forked from it.

The bundle has no `__pycache__`, and executions can't write one. Nothing of the modules is run here.
"""

import os
import stat
import sys
import time
import warnings
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from types import CodeType
from typing import Any

SECONDS = 2.0
MOST_FILES = 500
LARGEST_FILE_BYTES = 1024 * 1024

# By path: the code, and the size and time of the file that it has come from.
_compiled: "dict[str, tuple[CodeType, tuple[int, int]]]" = {}


class PrecompiledLoader(SourceFileLoader):
    """Takes the code that has been compiled, if the file is still the same."""

    def get_code(self, fullname: str) -> "CodeType | None":
        """See `importlib.abc.InspectLoader.get_code`."""
        found = _compiled.get(self.path)
        if found is not None:
            try:
                if found[1] == _state_of(os.stat(self.path)):
                    return found[0]
            except OSError:
                pass  # the next line says so
        return super().get_code(fullname)


def precompile(root: str) -> None:
    """Compiles modules below `root`, those of few directories first, as many as fit; imports take them from now on."""
    until = time.monotonic() + SECONDS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in _sources(root):
            if time.monotonic() > until or len(_compiled) >= MOST_FILES:
                break
            _compile(path)
    details: Any = (
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (PrecompiledLoader, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )
    find = FileFinder.path_hook(*details)

    def hook(path: str) -> Any:
        if path != root and not path.startswith(root + os.sep):
            raise ImportError(path)
        return find(path)

    sys.path_hooks.insert(0, hook)
    for path in list(sys.path_importer_cache):
        if path == root or path.startswith(root + os.sep):
            del sys.path_importer_cache[path]


def _sources(root: str) -> "list[str]":
    found = []
    for directory, _, names in os.walk(root):
        found += [os.path.join(directory, name) for name in names if name.endswith(".py")]
    found.sort(key=lambda path: (path.count(os.sep), path))
    return found


def _compile(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_FILE_BYTES:
                code = compile(file.read(), path, "exec", dont_inherit=True)
                _compiled[path] = (code, _state_of(status))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        pass  # an import says so, if there is one


def _state_of(status: os.stat_result) -> "tuple[int, int]":
    return status.st_size, status.st_mtime_ns
