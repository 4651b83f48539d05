"""The modules of a directory as they are written: parsed, neither run nor imported."""

import ast
import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Optional

MOST_SOURCE_BYTES = 1 << 20
MOST_FILES = 20_000
LONGEST_SIGNATURE = 300
LONGEST_DOC = 200
SKIPPED = {"__pycache__", "test", "tests", "_tests", "testing", "benchmarks", "examples", "node_modules"}
# An annotation that is written as a string: ``: 'Tag'`` and ``-> 'Tag'``.
QUOTED = re.compile(r"(?<=: |> )'([^']*)'|^'([^']*)'$")
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class Import(NamedTuple):
    """A name from another module; without `member`, the module itself."""

    module: str
    member: Optional[str]
    typing_only: bool


class Variable(NamedTuple):
    """A variable, with its annotation or the call that it is assigned."""

    name: str
    annotation: Optional[ast.expr]


class Function(NamedTuple):
    """A function or a method. Its texts are read when they are needed, which takes longer than parsing."""

    name: str
    node: Any
    is_method: bool

    @property
    def returns(self) -> Optional[ast.expr]:
        """The annotation of what it returns."""
        found: Optional[ast.expr] = self.node.returns
        return found

    @property
    def decorators(self) -> "set[str]":
        """The last names of its decorators."""
        return {getattr(each, "id", getattr(each, "attr", "")) for each in self.node.decorator_list}

    @property
    def is_property(self) -> bool:
        """Whether it is read as an attribute."""
        return self.is_method and any("property" in name for name in self.decorators)


class Class(NamedTuple):
    """A class."""

    name: str
    node: ast.ClassDef


class Module:
    """A parsed module."""

    def __init__(self, name: str, is_package: bool, tree: Optional[ast.Module]) -> None:
        self.name = name
        self.package = name if is_package else name.rpartition(".")[0]
        self.entries: dict[str, Any] = {}
        self.stars: list[str] = []
        self.all: Optional[list[str]] = None
        if tree is not None:
            self._read(tree.body, False)

    def exported(self) -> "list[str]":
        """What `import *` takes, or without `__all__` what the module defines or re-exports of its own package."""
        if self.all is not None:
            return list(dict.fromkeys(self.all))
        root = self.name.partition(".")[0]
        return [name for name, entry in self.entries.items() if not name.startswith("_") and self._is_own(entry, root)]

    @staticmethod
    def _is_own(entry: Any, root: str) -> bool:
        if not isinstance(entry, Import):
            return True
        return entry.member is not None and not entry.typing_only and entry.module.partition(".")[0] == root

    def _read(self, body: "list[ast.stmt]", typing_only: bool) -> None:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                known = self.entries.get(statement.name)
                if known is None or is_overload(known):
                    self.entries[statement.name] = Function(statement.name, statement, False)
            elif isinstance(statement, ast.ClassDef):
                self.entries.setdefault(statement.name, Class(statement.name, statement))
            elif isinstance(statement, ast.Import):
                for alias in statement.names:
                    module = alias.name if alias.asname else alias.name.partition(".")[0]
                    self.entries.setdefault(alias.asname or module, Import(module, None, typing_only))
            elif isinstance(statement, ast.ImportFrom):
                self._read_from(statement, typing_only)
            elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                self._read_assignment(statement)
            elif isinstance(statement, ast.If):
                self._read(statement.body, typing_only or "TYPE_CHECKING" in ast.dump(statement.test))
                self._read(statement.orelse, typing_only)
            elif isinstance(statement, ast.Try):
                for part in (statement.body, *(handler.body for handler in statement.handlers), statement.orelse):
                    self._read(part, typing_only)
            elif isinstance(statement, ast.With):
                self._read(statement.body, typing_only)

    def _read_from(self, statement: ast.ImportFrom, typing_only: bool) -> None:
        module = statement.module or ""
        if statement.level:
            base = self.package.split(".")
            base = base[: len(base) - statement.level + 1]
            module = ".".join([*base, *([module] if module else [])])
        for alias in statement.names:
            if alias.name == "*":
                self.stars.append(module)
            else:
                self.entries.setdefault(alias.asname or alias.name, Import(module, alias.name, typing_only))

    def _read_assignment(self, statement: Any) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if isinstance(target, ast.Name):
                if target.id == "__all__":
                    self._read_all(statement.value)
                else:
                    self.entries.setdefault(target.id, variable(target.id, statement))

    def _read_all(self, value: Optional[ast.expr]) -> None:
        if isinstance(value, (ast.List, ast.Tuple)):
            names = [item.value for item in value.elts if isinstance(item, ast.Constant)]
            self.all = [*(self.all or []), *(name for name in names if isinstance(name, str) and NAME.fullmatch(name))]


class Sources:
    """The modules below a directory of packages."""

    def __init__(self, directory: Path) -> None:
        self._files: dict[str, Path] = {}
        self._stubs: dict[str, Path] = {}
        self._directory = directory
        self._below: dict[str, list[str]] = {}
        self._parsed: dict[str, Optional[Module]] = {}
        for name, file in modules_in(directory):
            known = self._files.get(name)
            if file.suffix == ".pyi":
                self._stubs[name] = file
            if known is None or rank(file) < rank(known):
                self._files[name] = file
        for name in sorted(self._files):
            parent, _, last = name.rpartition(".")
            self._below.setdefault(parent, []).append(last)
            while parent and parent not in self._files:  # A namespace without a file of its own.
                parent, _, last = parent.rpartition(".")
                if last not in self._below.setdefault(parent, []):
                    self._below[parent].append(last)

    def provided_by(self, package: str) -> "set[str]":
        """The top-level modules of an installed package, by its record."""
        wanted = normalised(package)
        for information in self._directory.glob("*.dist-info"):
            if normalised(information.name.rpartition(".")[0].partition("-")[0]) == wanted:
                try:
                    lines = (information / "RECORD").read_text(encoding="utf-8").splitlines()
                except OSError:
                    return set()
                return {re.split(r"[/.,]", line, maxsplit=1)[0] for line in lines}
        return set()

    def top_level(self) -> "list[str]":
        """The modules that a script can import without a dot."""
        return sorted(self._below.get("", []))

    def stub(self, name: str) -> Optional[Module]:
        """The stub beside a module's source, which has what a compiled library defines."""
        file = self._stubs.get(name)
        if file is None:
            return None
        if f"{name}.pyi" not in self._parsed:
            self._parsed[f"{name}.pyi"] = Module(name, file.name.startswith("__init__."), parsed(file))
        return self._parsed[f"{name}.pyi"]

    def below(self, name: str) -> "list[str]":
        """The modules of a package."""
        return self._below.get(name, [])

    def module(self, name: str) -> Optional[Module]:
        """A module by its name; None when it isn't here."""
        if name not in self._parsed:
            file = self._files.get(name)
            if file is None and name not in self._below:
                return None
            is_package = file is None or file.name.startswith("__init__.")
            self._parsed[name] = Module(name, is_package, parsed(file) if file else None)
        return self._parsed[name]


def normalised(name: str) -> str:
    """A package's name as in PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def modules_in(directory: Path) -> "Iterator[tuple[str, Path]]":
    """The names and files of the modules below a directory, links not followed."""
    waiting = [("", directory)]
    files = 0
    while waiting:
        prefix, folder = waiting.pop()
        for path in sorted(folder.iterdir()):
            name = path.name.partition(".")[0]
            if path.is_symlink() or not NAME.fullmatch(name):
                continue
            if path.is_dir():
                if "." not in path.name and name not in SKIPPED:
                    waiting.append((f"{prefix}{name}.", path))
            elif path.suffix in (".py", ".pyi", ".so") and not name.startswith("test_") and name != "conftest":
                files += 1
                if files > MOST_FILES:
                    return
                if name != "__init__":
                    yield prefix + name, path
                elif prefix:
                    yield prefix[:-1], path


def rank(file: Path) -> "tuple[bool, int]":
    """A package hides a module of its name; a source has documentation, and a stub has more than a library."""
    return not file.name.startswith("__init__."), [".py", ".pyi", ".so"].index(file.suffix)


def parsed(file: Path) -> Optional[ast.Module]:
    """The syntax tree of a source; None when it has none."""
    try:
        if file.suffix == ".so" or file.stat().st_size > MOST_SOURCE_BYTES:
            return None
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_overload(entry: Any) -> bool:
    """Whether a later definition of that name is the function itself."""
    return isinstance(entry, Function) and "overload" in entry.decorators


def members_of(entry: Class) -> "list[Any]":
    """The public members of a class, with the attributes that `__init__` sets."""
    members: dict[str, Any] = {}
    for part in entry.node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if part.name == "__init__":
                for assigned in set_by(part):
                    members.setdefault(assigned.name, assigned)
            elif not part.name.startswith("_") and "setter" not in Function(part.name, part, True).decorators:
                members[part.name] = Function(part.name, part, True)
        elif isinstance(part, (ast.Assign, ast.AnnAssign)):
            for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                if isinstance(target, ast.Name) and not target.id.startswith("_"):
                    members.setdefault(target.id, variable(target.id, part))
    return list(members.values())


def constructor_of(entry: Class) -> Optional[str]:
    """The signature of a class that has an `__init__` of its own."""
    for part in reversed(entry.node.body):
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            return signature_of(Function(part.name, part, True)).partition(" -> ")[0]
    return None


def set_by(constructor: Any) -> "Iterator[Variable]":
    """The public attributes that a constructor sets."""
    for part in ast.walk(constructor):
        if isinstance(part, (ast.Assign, ast.AnnAssign)):
            for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                is_own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
                if is_own and target.value.id == "self" and not target.attr.startswith("_"):
                    yield variable(target.attr, part)


def variable(name: str, statement: Any) -> Variable:
    """A variable with its annotation, or with the call that it is assigned."""
    annotation = getattr(statement, "annotation", None)
    value = statement.value
    return Variable(name, annotation or (value if isinstance(value, ast.Call) else None))


def signature_of(entry: Function) -> str:
    """The parameters and the result as they are written; without a method's first parameter."""
    arguments = entry.node.args
    if entry.is_method and "staticmethod" not in entry.decorators:
        arguments = copy.copy(arguments)
        if arguments.posonlyargs:
            arguments.posonlyargs = arguments.posonlyargs[1:]
        else:
            arguments.args = arguments.args[1:]
    returns = f" -> {text_of(entry.returns)}" if entry.returns else ""
    parameters = text_of(arguments)
    if len(parameters) + len(returns) > LONGEST_SIGNATURE:
        parameters = parameters[: max(0, LONGEST_SIGNATURE - len(returns))] + "…"
    is_async = isinstance(entry.node, ast.AsyncFunctionDef)
    return f"{'async ' if is_async else ''}({parameters}){returns[:LONGEST_SIGNATURE]}"


def text_of(part: Any) -> str:
    """A part of a source as text, with annotations that are strings as they are meant."""
    try:
        return QUOTED.sub(lambda found: found[1] or found[2] or "", ast.unparse(part))
    except (ValueError, RecursionError):
        return "…"


def documentation(entry: Any) -> Optional[str]:
    """The first sentence of the documentation, on one line."""
    lines = (ast.get_docstring(entry.node) or "").strip().split("\n\n")[0]
    text = " ".join(lines.split())
    found = re.match(r".+?[.!?](?= [A-Z]|$)", text)
    text = (found[0] if found else text).replace("`", "")
    return (text if len(text) <= LONGEST_DOC else f"{text[:LONGEST_DOC]}…") or None
