"""The reference of the Python SDK, from its signatures and docstrings."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

import roost
from roost import aio
from roost._fields import Field, Record

INTRODUCTION = """# The Python SDK: reference

Everything that `import roost` brings, and at the end what differs in `roost.aio`. [The SDK's page](../../sdk/python/README.md)
shows how it is used. Times are aware `datetime`s, durations seconds.
"""

SDK = Path(roost.__file__).parent

# Classes whose schema in the REST API has another name.
SCHEMAS = {"Key": "ApiKey", "View": "SavedView"}


class Annotation:
    """A type as it is written in the source."""

    def __init__(self, text: object) -> None:
        self.text = str(text)

    def __repr__(self) -> str:
        return self.text


def page() -> str:
    """The Markdown page."""
    return "\n".join(_page())


def _page() -> "Iterator[str]":
    yield INTRODUCTION
    public = [(name, getattr(roost, name)) for name in roost.__all__ if not name.startswith("__")]
    errors = [(name, each) for name, each in public if inspect.isclass(each) and issubclass(each, BaseException)]
    classes = [(name, each) for name, each in public if inspect.isclass(each) and (name, each) not in errors]
    functions = [(name, each) for name, each in public if inspect.isfunction(each)]
    yield "## Settings of the module\n"
    yield "`roost.api_key`, `roost.base_url` and `roost.progress`; each is `None` until you set it.\n"
    yield "## Functions\n"
    for name, function in functions:
        yield from _function(f"roost.{name}", function, "###")
    yield "## Classes\n"
    for name, each in sorted(classes):
        yield from _class(name, each)
    yield "## States\n\nA newer server may have others, which come as the text that they are.\n"
    for name, each in sorted((name, each) for name, each in public if get_origin(each) is Literal):
        yield f"- `{name}`: " + ", ".join(f"`{state}`" for state in get_args(each))
    yield "\n## Errors\n"
    for name, each in errors:
        bases = ", ".join(f"`{base.__name__}`" for base in each.__bases__)
        yield f"### {name}\n\n{_text(each)}\n\nBelow {bases}.\n"
    yield "## roost.aio\n"
    yield from _difference()


def _class(name: str, each: type) -> "Iterator[str]":
    yield f"### {name}\n\n{_text(each)}\n"
    if fields := _fields(each):
        schema = f" ([what they mean](rest.md#{SCHEMAS.get(name, name).lower()}))" if issubclass(each, Record) else ""
        yield f"Fields{schema}:\n\n```\n" + "\n".join(fields) + "\n```\n"
    for member, value in sorted(_members(each).items()):
        if isinstance(value, property):
            yield f"#### {name}.{member}\n\n{_text(value)}\n"
        elif inspect.isfunction(value):
            yield from _function(f"{name}.{member}", value, "####")


def _members(each: type) -> "dict[str, object]":
    """What the class has, also by the package's classes below it, without what is private."""
    own = [base for base in reversed(each.__mro__) if base.__module__.split(".")[0] == "roost"]
    found = {name: value for base in own for name, value in vars(base).items() if not name.startswith("_")}
    return {name: getattr(value, "__func__", value) for name, value in found.items()}


def _function(name: str, function: object, level: str) -> "Iterator[str]":
    prefix = "async " if inspect.iscoroutinefunction(function) else ""
    yield f"{level} {name}\n\n```\n{prefix}{name.split('.')[-1]}{_signature(function)}\n```\n\n{_text(function)}\n"


def _signature(function: object) -> str:
    signature = inspect.signature(function)
    parameters = [
        each.replace(annotation=Annotation(each.annotation))
        for each in signature.parameters.values()
        if each.name not in ("self", "cls")
    ]
    result = Annotation(signature.return_annotation)
    text = re.sub(r"<[^<>]*>", "…", str(signature.replace(parameters=parameters, return_annotation=result)))
    if len(text) < 90:
        return text
    inside, _, result = text[1:].rpartition(") -> ")
    lines = re.split(r", (?=[\w*]+(?:[:=,]|$)|\*)", inside)
    return "(\n" + "".join(f"    {line},\n" for line in lines) + f") -> {result}"


def _fields(each: type) -> "list[str]":
    """Each as `name: type`."""
    types = {name: kind for base in reversed(each.__mro__) for name, kind in _declared(base).items()}
    annotations = getattr(each, "__annotations__", {}).items()
    annotated = [f"{name}: {getattr(kind, '__forward_arg__', kind)}" for name, kind in annotations]
    return [f"{name}: {types[name]}" for name, value in _members(each).items() if isinstance(value, Field)] or [
        text for text in annotated if not text.startswith("_")
    ]


def _declared(each: type) -> "dict[str, str]":
    """The types of the class's own fields, as the source has them: `name: Field[type] = …`."""
    found = {}
    for line in _source(each):
        if not isinstance(line, ast.AnnAssign) or not isinstance(line.annotation, ast.Subscript):
            continue
        if ast.unparse(line.annotation.value) == "Field":
            found[ast.unparse(line.target)] = ast.unparse(line.annotation.slice)
    return found


def _source(each: type) -> "list[ast.stmt]":
    """The body of a class; `__module__` is where users find it, so its file is known by its methods."""
    methods = [getattr(value, "__func__", value) for value in vars(each).values()]
    files = {value.__code__.co_filename for value in methods if inspect.isfunction(value)}
    files = files or {str(file) for file in SDK.glob("_sync/*.py")}  # It has no methods.
    trees = [ast.parse(Path(file).read_text(encoding="utf-8")) for file in files if Path(file).is_relative_to(SDK)]
    classes = (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    return next((node.body for node in classes if node.name == each.__name__), [])


def _text(each: object) -> str:
    """A docstring as Markdown."""
    text = inspect.getdoc(each) or ""
    text = re.sub(r"^:param (\w+):", r"- `\1`:", text, flags=re.MULTILINE)
    parts = re.split(r"(?m)^::\n\n((?:(?:    .*)?\n?)+)", text)
    return "".join(f"```\n{textwrap.dedent(part).strip()}\n```\n\n" if i % 2 else part for i, part in enumerate(parts))


def _difference() -> "Iterator[str]":
    yield _text(aio) + "\n"
    yield "What has other methods there, or the same with another signature but `async`:\n"
    for name in sorted(set(aio.__all__) & set(roost.__all__)):
        here, there = getattr(roost, name), getattr(aio, name)
        lines = list(_differing(here, there)) if inspect.isclass(there) and there is not here else []
        if lines:
            yield f"### aio.{name}\n\n```\n" + "\n".join(lines) + "\n```\n"


def _differing(here: type, there: type) -> "Iterator[str]":
    others = _members(here)
    for member, value in sorted(_members(there).items()):
        other = others.get(member)
        if not inspect.isfunction(value):
            continue
        if not inspect.isfunction(other) or _signature(value) != _signature(other):
            yield f"{'async ' if inspect.iscoroutinefunction(value) else ''}{member}{_signature(value)}"
