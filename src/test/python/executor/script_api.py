"""Describes what `main` gets, for the dashboard's editor: `parts/code/script-api.json`, from the executor's classes.

    python3 src/test/python/executor/script_api.py --write

`test_script_api.py` fails when the file is another one.
"""

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
FILE = ROOT / "src/main/resources/web/app/parts/code/script-api.json"
sys.path.insert(0, str(ROOT / "src/main/python"))

from roost_executor.script.http_request import HttpRequest  # noqa: E402 - found by now
from roost_executor.script.request import Request  # noqa: E402
from roost_executor.script.store import Store  # noqa: E402
from roost_executor.script.store_lock import Lock  # noqa: E402
from roost_executor.script.store_transaction import Transaction  # noqa: E402
from roost_executor.script.store_values import Entry  # noqa: E402

CLASSES: "tuple[type, ...]" = (Request, HttpRequest, Store, Transaction, Lock, Entry)
# Attributes that are set for each object, so that the class doesn't show them.
ATTRIBUTES = {"Transaction": {"versions": "dict"}}
# Types and texts that the classes don't have in a form for an editor.
TYPES = {
    "Request.deadline": "datetime | None",
    "Request.scheduled_time": "datetime | None",
    "Request.payload": "JSON",
    "Entry.expires_at": "datetime | None",
}
DOCS = {
    "Request.agent_id": "The agent's identifier.",
    "Request.attempt": "The number of the attempt, 1 for the first.",
    "Request.execution_id": "The execution's identifier.",
    "Request.executor_job_id": "The job's identifier.",
    "Request.scheduled": "Whether a schedule submitted the job.",
    "Request.scheduled_time": "The time of the schedule that submitted the job, or None.",
    "Request.stores": 'The agent\'s stores by name, as in request.stores["orders"].',
    "Entry.expires_at": "When the entry expires, in UTC, or None.",
    "Entry.key": "The entry's key.",
    "Entry.value": "The entry's value.",
    "Entry.version": "A number that grows with each change of the entry.",
}


def description() -> "dict[str, Any]":
    """Classes by name, with their documentation and their public members by name."""
    return {kind.__name__: {"doc": first_sentence(inspect.getdoc(kind)), "members": members(kind)} for kind in CLASSES}


def text() -> str:
    """The file's content."""
    return json.dumps(description(), indent=2, ensure_ascii=False) + "\n"


def members(kind: type) -> "dict[str, dict[str, str]]":
    """The public members of a class, with those that it has of its base classes."""
    found: dict[str, dict[str, str]] = {}
    for name in sorted({*dir(kind), *ATTRIBUTES.get(kind.__name__, {})}):
        if not name.startswith("_") and not (issubclass(kind, tuple) and name in ("count", "index")):
            found[name] = member(kind, name, getattr(kind, name, None))
    return found


def member(kind: type, name: str, value: Any) -> "dict[str, str]":
    """One member: its kind, its signature or type, and the first sentence about it."""
    if inspect.isclass(value):
        return {"kind": "class", "doc": first_sentence(inspect.getdoc(value))}
    if inspect.isfunction(value):
        if value.__module__.startswith("collections") or value.__module__ == "_collections_abc":
            return member(Store, name, getattr(Store, name))  # The same, with words of ours.
        signature = inspect.signature(value)
        parameters = [parameter for key, parameter in signature.parameters.items() if key != "self"]
        shown = str(signature.replace(parameters=parameters))
        shown = re.sub(r"= '[^']*'|'([^']*)'", lambda quoted: quoted[0] if quoted[1] is None else quoted[1], shown)
        shown = re.sub(r"<object object at 0x[0-9a-f]+>", "…", shown)
        shown = re.sub(r"\b(?:roost_executor|collections|typing)(?:\.\w+)*\.", "", shown)
        return {"kind": "method", "signature": shown, "doc": first_sentence(inspect.getdoc(value))}
    return {"kind": "property", "type": type_of(kind, name, value), "doc": attribute_doc(kind, name, value)}


def type_of(kind: type, name: str, value: Any) -> str:
    """The type of an attribute or of a property."""
    known = TYPES.get(f"{kind.__name__}.{name}") or ATTRIBUTES.get(kind.__name__, {}).get(name)
    hint = value.fget.__annotations__["return"] if isinstance(value, property) else None
    hint = known or hint or kind.__annotations__.get(name, Any)
    return hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))


def attribute_doc(kind: type, name: str, value: Any) -> str:
    """What a class says about an attribute: a line or part of a line "name, name: text" of its documentation."""
    if f"{kind.__name__}.{name}" in DOCS:
        return DOCS[f"{kind.__name__}.{name}"]
    line = rf"(?:^|[;\n]|- )[^:;\n]*\b{name}\b`?[^:;\n]*: (.*?)(?:;|\.?\n(?! )|\.?$)"
    found = re.search(line, inspect.getdoc(kind) or "", re.DOTALL)
    if found:
        return sentence(re.sub(r" \((?:aware )?\w+\)", "", found[1]))
    return first_sentence(inspect.getdoc(value)) if isinstance(value, property) else ""


def first_sentence(doc: "str | None") -> str:
    """The first sentence of a documentation, on one line."""
    return sentence((doc or "").split("\n\n")[0])


def sentence(text: str) -> str:
    """A text up to the end of its first sentence, with a full stop."""
    line = " ".join(text.replace("`", "").split())
    found = re.match(r".*?[.:](?= |$)", line)
    line = (found[0] if found else line).rstrip(":.")
    return line[:1].upper() + line[1:] + "." if line else ""


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        FILE.write_text(text(), encoding="utf-8")
    else:
        sys.stdout.write(text())
