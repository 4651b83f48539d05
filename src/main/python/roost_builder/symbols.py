"""The public names of the installed packages: `python -I -B symbols.py SITE_PACKAGES OUTPUT [REQUIRED …]`.

The editor completes them. Sources are parsed and never run or imported. OUTPUT is the compressed index, base64::

    {"version": 1, "names": ["bs4", …], "modules": {"bs4": [symbol, …], "bs4.element": […]}}

``names`` are all top-level modules. A symbol has ``name`` and ``kind`` (class, function, method, module, property or
variable), and where they are known ``signature``, ``doc`` (the first sentence), ``type`` (the class that it returns or
has), ``from`` (where a class of another module is described; the whole name of a module), and of a class ``bases`` and
``members``. The time, the number of modules and the size of the index are limited: modules near the top come first.
"""

import ast
import base64
import gzip
import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Optional

if __package__:
    from roost_builder import symbol_sources as reading
    from roost_builder.symbol_sources import Class, Function, Import, Module, Sources, Variable
else:
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import symbol_sources as reading
    from symbol_sources import Class, Function, Import, Module, Sources, Variable

# Of this process: on a busy machine it takes longer.
SECONDS = 2.0
# So many steps from what can be imported.
NEAR = 3
MOST_MODULES = 4_000
MOST_SYMBOLS = 3_000
MOST_MEMBERS = 400
# Of JSON, and of the compressed index.
MOST_BYTES = 12 << 20
MOST_COMPRESSED_BYTES = 384 << 10
DEEPEST = 12

Symbol = dict[str, Any]


class Index:
    """Resolves names through imports, and describes modules."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    def symbols(self, module: Module) -> list[Symbol]:
        """The exported names of a module, and the public modules below it."""
        found = {name: self.describe(module, name) for name in module.exported()[:MOST_SYMBOLS]}
        for name in self.sources.below(module.name):
            if name not in found and not name.startswith("_"):
                found[name] = {"name": name, "kind": "module", "from": f"{module.name}.{name}"}
        return [found[name] for name in sorted(found)]

    def describe(self, module: Module, name: str) -> Symbol:
        """A name of a module."""
        place, entry = self.resolve(module, name)
        if entry is None:
            place, entry = self.stubbed(module, name)
        if isinstance(entry, Module):
            return {"name": name, "kind": "module", "from": entry.name}
        if isinstance(entry, Class):
            texts = texts_of(reading.constructor_of(entry), entry)
            symbol = {"name": name, "kind": "class", **texts}
            path = f"{place.name}.{entry.name}"
            if path != f"{module.name}.{name}":
                return {**symbol, "from": path}
            bases = [
                base for base in (self.class_path(place, base) for base in entry.node.bases) if base and base != path
            ]
            members = [self.member(place, path, member) for member in reading.members_of(entry)[:MOST_MEMBERS]]
            return {**symbol, **({"bases": bases} if bases else {}), **({"members": members} if members else {})}
        if isinstance(entry, Function):
            return self.function(place, name, "function", entry, None)
        kind = self.class_path(place, entry.annotation) if isinstance(entry, Variable) else None
        return {"name": name, "kind": "variable", **({"type": kind} if kind else {})}

    def member(self, module: Module, path: str, entry: Any) -> Symbol:
        """A member of the class with that path."""
        if isinstance(entry, Function):
            kind = "property" if entry.is_property else "method"
            return self.function(module, entry.name, kind, entry, path)
        kind = self.class_path(module, entry.annotation)
        return {"name": entry.name, "kind": "property", **({"type": kind} if kind else {})}

    def function(self, module: Module, name: str, kind: str, entry: Function, owner: Optional[str]) -> Symbol:
        """A function, a method or a property."""
        returned = owner if owner and is_self(entry.returns) else self.class_path(module, entry.returns)
        signature = None if kind == "property" else reading.signature_of(entry)
        typed = {"type": returned} if returned else {}
        return {"name": name, "kind": kind, **texts_of(signature, entry), **typed}

    def class_path(self, module: Module, annotation: Optional[ast.expr]) -> Optional[str]:
        """The whole name of the class that an annotation, a base or a call names first; None: it isn't in the index."""
        name = first_name(annotation)
        if name is None:
            return None
        place: Any = module
        entry: Any = module
        for part in name.split("."):
            if not isinstance(entry, Module):
                return None
            place, entry = self.resolve(entry, part)
        return f"{place.name}.{entry.name}" if isinstance(entry, Class) else None

    def resolve(self, module: Module, name: str) -> "tuple[Module, Any]":
        """The module that defines a name, and what it defines: None when that isn't known."""
        for _ in range(DEEPEST):
            entry = module.entries.get(name)
            if entry is None:
                below = self.sources.module(f"{module.name}.{name}")
                if below is not None:
                    return below, below
                found = self.starred(module, name)
                if found is None:
                    return module, None
                module = found
                continue
            if not isinstance(entry, Import):
                return module, entry
            target = self.sources.module(entry.module)
            if entry.member is None:
                return (target, target) if target else (module, None)
            if target is None:
                return module, None
            if target is module and entry.member == name:
                below = self.sources.module(f"{module.name}.{name}")
                return (below, below) if below else (module, None)
            module, name = target, entry.member
        return module, None

    def stubbed(self, module: Module, name: str) -> "tuple[Module, Any]":
        """What the stubs say about a name that the sources leave to a compiled library."""
        for _ in range(DEEPEST):
            stub = self.sources.stub(module.name)
            entry = stub.entries.get(name) if stub else None
            if not isinstance(entry, Import) or entry.member is None:
                return module, None if isinstance(entry, Import) else entry
            target = self.sources.module(entry.module)
            if target is None:
                break
            module, name = target, entry.member
        return module, None

    def starred(self, module: Module, name: str) -> Optional[Module]:
        """The module of a star import that exports a name."""
        for starred in module.stars:
            target = self.sources.module(starred)
            if target is not None and target is not module and name in target.entries:
                return target
        return None


def texts_of(signature: Optional[str], entry: Any) -> Symbol:
    """The signature and the documentation, where they are known."""
    doc = reading.documentation(entry)
    return {**({"signature": signature} if signature else {}), **({"doc": doc} if doc else {})}


def is_self(annotation: Optional[ast.expr]) -> bool:
    """Whether a method returns an object of its own class."""
    return first_name(annotation) in ("Self", "typing.Self", "typing_extensions.Self")


def first_name(annotation: Optional[ast.expr]) -> Optional[str]:
    """The class that an expression names first: of `Optional[a.B]`, `a.B | None`, `"a.B"` and `a.B()`, a.B."""
    for _ in range(DEEPEST):
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        elif isinstance(annotation, ast.BinOp):
            annotation = annotation.left
        elif isinstance(annotation, ast.Call):
            annotation = annotation.func
        elif isinstance(annotation, ast.Subscript):
            outer = dotted(annotation.value)
            if outer and outer.rpartition(".")[2] in ("Optional", "Union", "Annotated", "Awaitable"):
                inner = annotation.slice
                inner = getattr(inner, "value", inner) if type(inner).__name__ == "Index" else inner
                annotation = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
            else:
                return outer
        else:
            return dotted(annotation)
    return None


def dotted(expression: Optional[ast.expr]) -> Optional[str]:
    """`a.b.c` as text; None for another expression."""
    parts: list[str] = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    return ".".join([expression.id, *reversed(parts)]) if isinstance(expression, ast.Name) else None


def index_of(directory: Path, required: "Iterable[str]" = (), seconds: float = SECONDS) -> "dict[str, Any]":
    """The index of what is installed in a directory, within the limits.

    required: the packages that come first, by their names; the others are there because these need them.
    """
    sources = Sources(directory)
    index = Index(sources)
    first = {module for name in required for module in sources.provided_by(name)}
    public = [name for name in sources.top_level() if not name.startswith("_")]
    modules: dict[str, list[Symbol]] = {}
    size = 0
    groups = [[name for name in public if name in first], [name for name in public if name not in first]]
    for name in nearest_first(sources, modules, groups):
        module = sources.module(name)
        if module is not None:
            symbols = index.symbols(module)
            size += len(json.dumps(symbols, ensure_ascii=False))
            if size > MOST_BYTES or time.process_time() > seconds:
                break
            modules[name] = symbols
    return {"version": 1, "names": sources.top_level(), "modules": modules}


def nearest_first(sources: Sources, modules: "dict[str, list[Symbol]]", groups: "list[list[str]]") -> "Iterator[str]":
    """The names of the modules in the order of their use: what can be imported, then what that shows, and so on.

    modules: what has been described so far, which the caller fills. groups: top-level modules; the near ones of a group
    come before the next group, and the far ones of all groups last.
    """
    seen = {name for group in groups for name in group}
    far: list[str] = []
    for group in groups:
        waiting = group
        for _ in range(NEAR):
            yield from waiting
            symbols = [symbol for name in waiting for symbol in modules.get(name, [])]
            far += [symbol["from"] for symbol in symbols if symbol["kind"] == "module"]
            shown = dict.fromkeys(module for symbol in symbols for module in modules_of(symbol, sources))
            waiting = [module for module in shown if module not in seen]
            seen.update(waiting)
        far += waiting
    while far:
        name = far.pop(0)
        if name not in modules and len(seen) < MOST_MODULES:
            yield name
            seen.add(name)
            symbols = modules.get(name, [])
            found = dict.fromkeys(module for symbol in symbols for module in modules_of(symbol, sources))
            below = [symbol["from"] for symbol in symbols if symbol["kind"] == "module"]
            far += [module for module in [*found, *below] if module not in seen]


def modules_of(symbol: Symbol, sources: Sources) -> "Iterator[str]":
    """The modules that have more about a symbol: its class, its base classes, and what its methods return."""
    if symbol["kind"] != "module":
        for path in (symbol.get("from"), symbol.get("type"), *symbol.get("bases", [])):
            module = path.rpartition(".")[0] if path else ""
            if module and sources.module(module) is not None:
                yield module
        for member in symbol.get("members", []):
            yield from modules_of(member, sources)


def compressed(index: "dict[str, Any]") -> str:
    """The index as it travels; modules are left out from the end until it is small enough."""
    while True:
        text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
        content = gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)
        if len(content) <= MOST_COMPRESSED_BYTES or not index["modules"]:
            return base64.b64encode(content).decode("ascii")
        kept = int(len(index["modules"]) * min(0.9, MOST_COMPRESSED_BYTES / len(content)))
        index = {**index, "modules": dict(list(index["modules"].items())[:kept])}


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(compressed(index_of(Path(sys.argv[1]), sys.argv[3:])), encoding="ascii")
