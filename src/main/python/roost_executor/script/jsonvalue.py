"""JSON text from Python values, and where a value isn't JSON."""

import json
import math
import sys
from collections.abc import Iterator
from typing import Any

DEEPEST = 3000
SCALARS = (str, int, float, bool, type(None))
# Created once: `json.dumps` creates an encoder for each call that has any settings.
_encode = json.JSONEncoder(allow_nan=False).encode


class NotJson(ValueError):  # noqa: N818
    """A value can't be written as JSON; the message says where and why, beginning with the path."""


class _AllDigits:
    """Lifts Python's limit of 4,300 digits for integers: payloads and values may hold longer ones."""

    def __enter__(self) -> None:
        self._limit = getattr(sys, "get_int_max_str_digits", int)()
        getattr(sys, "set_int_max_str_digits", bool)(0)

    def __exit__(self, *_: object) -> None:
        getattr(sys, "set_int_max_str_digits", bool)(self._limit)


def decode(text: str) -> Any:
    """What Python's `json` makes of `text`; raises ValueError or RecursionError."""
    try:
        return json.loads(text)
    except ValueError:
        with _AllDigits():
            return json.loads(text)


def encode(value: object) -> str:
    """`json.dumps(value)` with the default settings, but without NaN and infinities.

    Raises NotJson, whose message is like `$.items[3].when is a datetime`.
    """
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):
        with _AllDigits():
            try:
                return _encode(value)
            except (TypeError, ValueError, RecursionError) as error:
                failure = error
    reason = _find(value)
    if reason is None:
        if isinstance(failure, RecursionError):
            reason = "$ is nested too deeply"
        else:
            reason = f"$ can't be written as JSON: {failure}"
    raise NotJson(reason)


def _find(root: object) -> "str | None":
    """The first value, in the order of writing, that JSON can't hold. Not recursive: values may be deep."""
    above: set[int] = set()
    stack: list[tuple[str, object, Iterator[tuple[str, object]]]] = []
    problem = _problem(root)
    if problem:
        return f"$ {problem}"
    if isinstance(root, (dict, list, tuple)):
        above.add(id(root))
        stack.append(("$", root, _children("$", root)))
    while stack:
        if len(stack) > DEEPEST:
            return None  # a longer path is of no help
        _, container, children = stack[-1]
        step = next(children, None)
        if step is None:
            stack.pop()
            above.discard(id(container))
            continue
        path, value = step
        problem = _problem(value)
        if problem:
            return f"{path} {problem}"
        if isinstance(value, (dict, list, tuple)):
            if id(value) in above:
                return f"{path} refers to itself"
            above.add(id(value))
            stack.append((path, value, _children(path, value)))
    return None


def _children(path: str, container: Any) -> "Iterator[tuple[str, object]]":
    if isinstance(container, dict):
        for key, value in container.items():
            if not isinstance(key, SCALARS):
                yield path, _BadKey(f"has a key that is {with_article(key)}: {_short(key)}")
            elif isinstance(key, float) and not math.isfinite(key):
                yield path, _BadKey(f"has a key that is {key!r}")
            elif isinstance(key, str) and key.isidentifier():
                yield f"{path}.{key}", value
            else:
                yield f"{path}[{json.dumps(key)}]", value
    else:
        for index, value in enumerate(container):
            yield f"{path}[{index}]", value


class _BadKey:
    def __init__(self, problem: str) -> None:
        self.problem = problem


def _problem(value: object) -> "str | None":
    if isinstance(value, _BadKey):
        return value.problem
    if isinstance(value, float) and not math.isfinite(value):
        return "is NaN" if math.isnan(value) else f"is {'-' if value < 0 else ''}Infinity"
    if isinstance(value, (*SCALARS, dict, list, tuple)):
        return None
    return f"is {with_article(value)}"


def with_article(value: object) -> str:
    """The name of a value's type: `a list`, `an int`."""
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception:
        return "…"
    return text if len(text) <= 100 else text[:100] + "…"
