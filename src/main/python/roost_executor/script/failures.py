"""How a script failed: reason, message, traceback, place."""

import errno
import os
import traceback
from types import TracebackType
from typing import Any, NamedTuple

from roost_executor import PACKAGE_DIRECTORY

LARGEST_TEXT = 64 * 1024
LARGEST_SUMMARY = 2000
PACKAGE = "roost_executor."
OWN_FILES = PACKAGE_DIRECTORY + os.sep

# Modules whose distribution has another name: the most frequent ones.
DISTRIBUTIONS = {
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "jwt": "PyJWT",
    "OpenSSL": "pyOpenSSL",
    "PIL": "pillow",
    "psycopg2": "psycopg2-binary",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}

Failure = "dict[str, Any]"


class ScriptFile(NamedTuple):
    """The file of a script."""

    path: str
    # What is below this directory is the agent's own: tracebacks name it by its path from there.
    root: str

    @property
    def name(self) -> str:
        """Its path from the root."""
        return os.path.relpath(self.path, self.root)


class ScriptFailure(Exception):  # noqa: N818
    """The script can't be run, or has failed without an exception of its own."""

    def __init__(
        self,
        reason: str,
        message: str,
        line: "int | None" = None,
        column: "int | None" = None,
        error_type: "str | None" = None,
        traceback_text: "str | None" = None,
        print_text: "str | None" = None,
        error_message: "str | None" = None,
    ) -> None:
        """`traceback_text`: stored with the failure; `print_text`: the last lines of the log."""
        super().__init__(message)
        self.record: Failure = {
            "reason": reason,
            "message": bounded(message, LARGEST_SUMMARY),
            "error": None,
            "print": print_text,
        }
        if error_type or line is not None:
            self.record["error"] = {
                "type": error_type or reason,
                "message": bounded(error_message or message),
                "traceback": traceback_text,
                "line": line,
                "column": column,
            }


def failure_of(error: BaseException, script: ScriptFile, importing: bool) -> Failure:
    """The record of an uncaught exception. Never raises, whatever the exception's methods do."""
    try:
        kind = type_name(error)
        message = message_of(error)
        trace = script_frames(error.__traceback__, script.path)
        text = traceback_text(error, trace, script)
        line, column = place(trace, script.path)
        summary = f"{kind}: {message}" if message else kind
        reason = _reason(error, importing)
        if isinstance(error, ModuleNotFoundError) and error.name:
            summary += f". {_advice(error.name)}"
        elif isinstance(error, ImportError) and error.name and error.name not in message:
            summary += f" (module {error.name})"
        return {
            "reason": reason,
            "message": bounded(summary, LARGEST_SUMMARY),
            "error": {
                "type": kind,
                "message": bounded(message),
                "traceback": text,
                "line": line,
                "column": column,
            },
            "print": text,
        }
    except MemoryError:
        reason = "out_of_memory"
        return {"reason": reason, "message": "MemoryError", "error": None, "print": "MemoryError"}


def _reason(error: BaseException, importing: bool) -> str:
    if isinstance(error, MemoryError):
        return "out_of_memory"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "out_of_disk"
    if importing and isinstance(error, ImportError):
        return "import_error"
    return "exception"


def _advice(module: str) -> str:
    top = module.partition(".")[0]
    distribution = DISTRIBUTIONS.get(top, top)
    return f"If {distribution} is a package from PyPI, add it to the agent's requirements"


def type_name(error: BaseException) -> str:
    """The name as a traceback shows it: `ValueError`, `requests.exceptions.HTTPError`."""
    kind = type(error)
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def message_of(error: BaseException) -> str:
    """`str(error)`, bounded, or why the exception can't be shown."""
    try:
        return bounded(str(error))
    except Exception as second:
        return f"<the exception can't be shown: its __str__ raised {type(second).__name__}>"


def bounded(text: str, limit: int = LARGEST_TEXT) -> str:
    """`text`, its middle left out when it is longer than `limit`; no lone surrogates, no NUL."""
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]} … {len(text) - 2 * half:,} characters … {text[-half:]}"
    replaced = text.encode("utf-8", "backslashreplace").decode()
    return replaced.replace("\0", "\N{REPLACEMENT CHARACTER}")


def script_frames(trace: "TracebackType | None", script_path: str) -> "TracebackType | None":
    """The traceback from the first frame of the script on: without the executor's and asyncio's frames above it."""
    first = trace
    while first is not None and first.tb_frame.f_code.co_filename != script_path:
        first = first.tb_next
    if first is not None:
        return first
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith(PACKAGE):
        trace = trace.tb_next
    return trace


def place(trace: "TracebackType | None", script_path: str) -> "tuple[int | None, int | None]":
    """Line and column (both from 1) of the innermost frame in the script; the column from Python 3.11 on."""
    found = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == script_path:
            found = trace
        trace = trace.tb_next
    if found is None:
        return None, None
    positions = getattr(found.tb_frame.f_code, "co_positions", None)
    if positions is None or found.tb_lasti < 0:
        return found.tb_lineno, None
    for index, (_, _, column, _) in enumerate(positions()):
        if index == found.tb_lasti // 2:
            return found.tb_lineno, _character(script_path, found.tb_lineno, column)
    return found.tb_lineno, None


def _character(script_path: str, line: int, byte_column: "int | None") -> "int | None":
    """The column in characters, from 1, of a column in bytes of UTF-8, from 0."""
    import linecache

    if byte_column is None:
        return None
    text = linecache.getline(script_path, line).encode("utf-8", "replace")
    return len(text[:byte_column].decode("utf-8", "replace")) + 1


def traceback_text(error: BaseException, trace: "TracebackType | None", script: ScriptFile) -> str:
    """The traceback as Python prints it, the same on every version: without markers below the lines."""
    try:
        summary = traceback.TracebackException(type(error), error, trace)
        _without_markers(summary, set())
        text = "".join(summary.format())
    except Exception as second:
        text = f"{type_name(error)}: {message_of(error)}\n(the traceback can't be shown: {type(second).__name__})\n"
    return bounded(text.rstrip("\n").replace(f'File "{script.root}{os.sep}', 'File "'))


def _without_markers(summary: Any, seen: "set[int]") -> None:
    if summary is None or id(summary) in seen:
        return
    seen.add(id(summary))
    # Causes and contexts have their own tracebacks; the executor's frames may be in them too.
    stack = summary.stack
    for index in range(len(stack) - 1, -1, -1):
        frame = stack[index]
        if frame.filename.startswith(OWN_FILES):
            del stack[index]
        elif getattr(frame, "colno", None) is not None:
            frame.colno = frame.end_colno = None
            frame.end_lineno = frame.lineno
    _without_markers(summary.__cause__, seen)
    _without_markers(summary.__context__, seen)
    for member in getattr(summary, "exceptions", None) or ():
        _without_markers(member, seen)
