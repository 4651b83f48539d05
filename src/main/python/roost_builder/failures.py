"""Why a build failed, classified by uv's output.

uv's exit status is 1 or 2 for every error, so its messages are matched, the most precise patterns first. The
patterns fit uv's releases of 2024 to 2026; an unknown message becomes ``runtime_unavailable``, with uv's output.
"""

import errno
import re

MAX_MESSAGE_CHARACTERS = 4_000
BUILD_OUTPUT_LINES = 15

OUT_OF_DISK = re.compile(r"No space left on device|Disk quota exceeded|\(os error (28|122)\)")
OUT_OF_MEMORY = re.compile(
    r"signal: 9\b|SIGKILL|Cannot allocate memory|\(os error 12\)|memory allocation of \d+ bytes failed|"
    r"Killed signal terminated program|^\s*MemoryError\b",
    re.MULTILINE,
)
INDEX_UNREACHABLE = re.compile(
    r"Failed to fetch|Request failed after|error sending request|dns error|tcp connect error|invalid peer certificate|"
    r"HTTP status (client|server) error|operation timed out|connection (reset|closed)|"
    r"lack of valid authentication|40[13] (Unauthorized|Forbidden)|Hash mismatch|[Nn]etwork connectivity is disabled",
)
BUILD_FAILED = re.compile(r"Failed to build|build backend|Failed to (download and )?build|Call to `.*` failed")
NOT_FOUND = re.compile(
    r"was not found in the (package registry|provided package locations)|[Tt]here (is|are) no versions? of \S+==|"
    r"has no wheels with a matching|has no usable wheels|is unavailable because|Couldn't parse requirement"
)
CONFLICT = re.compile(r"No solution found|unsatisfiable")
NO_PYTHON = re.compile(
    r"No interpreter found|Querying Python|Failed to (inspect|query) Python"
    r"|Failed to discover.*interpreter|broken Python"
)
UNKNOWN_VERSION = re.compile(r"[Tt]here is no version of ([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s,]+)")
BLOCK = re.compile(r"^\s*\[(stdout|stderr)\]$")
HEAD = re.compile(r"^(error:|\s*×)")
DIRECTORIES = re.compile(r"(?<![\w:/.~-])~?/(?:[^\s/`'\":,;()]+/)+")
GENERIC_HINT = re.compile(r"^hint: Build failures usually indicate")


class BuildFailed(Exception):
    """The build has failed for one of the API's reasons."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def failure_of(status: int, lines: list[str]) -> BuildFailed:
    """Reason and message for a run of uv that failed.

    status: as in subprocess, negative for a signal.
    lines: its output, without credentials.
    """
    words, output = split(lines)
    explanation = "\n".join(words)
    reason = reason_of(status, explanation, "\n".join(output))
    if reason == "out_of_memory" and not explanation:
        explanation = "uv was killed; most likely it ran out of memory."
    if reason in ("build_from_source_failed", "out_of_memory") and output:
        explanation += "\n\n" + "\n".join(output[-BUILD_OUTPUT_LINES:])
    explanation = without_directories(explanation.strip())
    return BuildFailed(reason, explanation[:MAX_MESSAGE_CHARACTERS] or f"uv ended with status {status}.")


def reason_of(status: int, explanation: str, output: str) -> str:
    """One of the build reasons of the API, from uv's exit status and output."""
    if OUT_OF_DISK.search(explanation) or OUT_OF_DISK.search(output):
        return "out_of_disk"
    if status == -9 or OUT_OF_MEMORY.search(explanation) or OUT_OF_MEMORY.search(output):
        return "out_of_memory"
    if INDEX_UNREACHABLE.search(explanation):
        return "index_unreachable"
    if BUILD_FAILED.search(explanation):
        return "build_from_source_failed"
    if NOT_FOUND.search(explanation):
        return "requirement_not_found"
    if CONFLICT.search(explanation):
        return "requirements_conflict"
    if NO_PYTHON.search(explanation):
        return "python_version_unavailable"
    return "runtime_unavailable"


def split(lines: list[str]) -> tuple[list[str], list[str]]:
    """uv's own messages, from its first error on and without indentation, and the last output of a build backend."""
    start = next((number for number, line in enumerate(lines) if HEAD.match(line)), 0)
    words: list[str] = []
    output: list[str] = []
    inside = False
    for line in lines[start:]:
        if BLOCK.match(line):
            inside = True
            output = []
        elif inside and line and not line.startswith("hint:"):
            output.append(line.strip() if not line.startswith("         ") else line[9:])
        elif line and not GENERIC_HINT.match(line):
            inside = False
            words.append(re.sub(r"^(error|\s+cause): |^\s*[×╰├│─▶]+\s*", "", line).strip())
    return [word for word in words if word], output


def without_directories(text: str) -> str:
    """The text with only the names of files: the server's directories are not for users. URLs stay."""
    return DIRECTORIES.sub("…/", text)


def cause_of(error: OSError) -> str:
    """The operating system's message, without the path."""
    return error.strerror or type(error).__name__


def explain_os_error(error: OSError) -> tuple[str, str]:
    """The reason and the message of an OSError in the builder itself."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "out_of_disk", f"There is no space left for the build: {cause_of(error)}"
    if error.errno == errno.ENOMEM:
        return "out_of_memory", f"The builder ran out of memory: {cause_of(error)}"
    return "runtime_unavailable", f"The builder could not work: {cause_of(error)}"
