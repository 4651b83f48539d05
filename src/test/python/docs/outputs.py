"""Whether a command has printed what a document shows."""

import re

# What an identifier's type is called in front of it.
TYPES = (
    "agent",
    "exec",
    "xjob",
    "bjob",
    "build",
    "store",
    "sched",
    "hook",
    "dlv",
    "channel",
    "message",
    "key",
    "req",
    "executor",
)
IDENTIFIER = re.compile(rf"\b({'|'.join(TYPES)})_(?:[0-9a-z]{{26}}|[0-9a-z]{{0,26}}…)")

# What is another each time, and what stands for it.
CHANGING = [
    (re.compile(r"\broost_[0-9a-z_]*(?:…|[0-9a-z])"), "<key>"),
    (re.compile(r"\bwhsec_[\w+/=-]*…?"), "<secret>"),
    (IDENTIFIER, r"<\1>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|min|KiB|MiB|GiB)\b"), "<amount>"),
    (re.compile(r"\b\d+\.\d{3,}(?:E-?\d+)?\b|\b\d+\.\d+E-?\d+\b|\b\d{6,}\b"), "<number>"),
    (re.compile(r"\b[0-9a-f]{16,}…?|\b[0-9a-f]{4,}…"), "<hash>"),
]


def without_changing(text: str) -> str:
    """The text with a name in place of each value that is another each time."""
    for changing, name in CHANGING:
        text = changing.sub(name, text)
    return text


def plain(text: str) -> str:
    """The text with its spaces as if it were one line, and as JSON may have them or not."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(r" ?([:,{}\[\]…]) ?", r"\1", text).strip()


def shows(expected: str, printed: str) -> bool:
    """Whether the expected output, in which … stands for anything, is somewhere in what was printed."""
    return _found(expected, printed) or _found(without_changing(expected), without_changing(printed))


def _found(expected: str, printed: str) -> bool:
    pattern = ".*?".join(re.escape(part) for part in plain(expected).split("…"))
    return re.search(pattern, plain(printed), re.DOTALL) is not None
