"""The script: its text and its code, importing it and calling its `main`."""

import marshal
import os
import stat
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import AsyncGeneratorType, CodeType, FunctionType, GeneratorType, ModuleType
from typing import Any, Callable, NamedTuple

from roost_executor.files import remove
from roost_executor.script.failures import ScriptFailure, ScriptFile
from roost_executor.script.jsonvalue import with_article
from roost_executor.script.stream import Stream, drain, drain_in_task
from roost_executor.wire.control import MOST_CODE_BYTES

MODULE = "agent"
EXPECTED = "Define `def main(request, store):` with no parameter, one or two"


class Bundle(NamedTuple):
    """The files of a project: their directory, and the path of the script in it."""

    directory: str
    script: str


class Script:
    """An agent's script, unchanged, in the runner's memory, from which every execution gets it.

    `copy` is a file with the same text that executions may change, in a directory of its own: what new interpreters
    import (`multiprocessing` with spawn). The script of a bundle has none, since its bundle has that file; a draft of
    it does, and is nevertheless `file` for itself, so that it finds the files beside it.
    """

    def __init__(self, directory: str, text: str, bundle: "Bundle | None" = None, is_draft: bool = False) -> None:
        """`directory`: for the copy alone. `is_draft`: `text` isn't that of the bundle's script."""
        self.source = text.encode("utf-8", "surrogatepass")
        # Compiled by the first execution, before it runs anything of the script.
        self.code: CodeType | None = None
        self.bundle = bundle
        self.is_draft = is_draft
        self.copy: str | None = None
        if bundle is None:
            self.module = MODULE
            self.copy = path = os.path.join(directory, MODULE + ".py")
            self.file = ScriptFile(path, directory)
            self.import_paths = [directory]
            self.readable: tuple[str, ...] = (directory,)
            return
        path = os.path.join(bundle.directory, bundle.script)
        self.file = ScriptFile(path, bundle.directory)
        self.module = _module_of(path)
        sources = os.path.join(bundle.directory, "src")
        self.import_paths = list(dict.fromkeys((os.path.dirname(path), bundle.directory)))
        if os.path.isdir(sources) and sources not in self.import_paths:
            self.import_paths.append(sources)
        self.readable = (bundle.directory,)
        if is_draft:
            self.copy = os.path.join(directory, self.module + ".py")
            self.import_paths.insert(0, directory)
            self.readable = (bundle.directory, directory)

    def restore(self) -> None:
        """Restores the directory with the script alone, whatever an execution has left there. Raises OSError."""
        if self.copy is None or self._is_intact(self.copy):
            return
        directory = os.path.dirname(self.copy)
        remove(directory)
        os.mkdir(directory, 0o700)
        with open(self.copy, "xb") as file:
            file.write(self.source)

    def remove_copy(self) -> None:
        """Removes the directory of the copy. Never raises."""
        if self.copy is not None:
            remove(os.path.dirname(self.copy))

    def _is_intact(self, path: str) -> bool:
        directory, name = os.path.split(path)
        try:
            if not stat.S_ISDIR(os.lstat(directory).st_mode) or os.listdir(directory) != [name]:
                return False
            # An execution may have replaced it: don't follow a link, don't wait for a pipe's writer.
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:
                return stat.S_ISREG(os.fstat(descriptor).st_mode) and file.read(len(self.source) + 1) == self.source
        except OSError:
            return False

    def take_code(self, content: bytes) -> None:
        """Takes the result of `code_bytes`."""
        if content:
            self.code = marshal.loads(content)


def _module_of(path: str) -> str:
    """The module's name: the file's, unless a module that the executor needs has it."""
    name = os.path.splitext(os.path.basename(path))[0]
    taken = name in sys.modules or name in getattr(sys, "stdlib_module_names", ()) or name == "__init__"
    return MODULE if taken else name


def code_bytes(code: CodeType) -> bytes:
    """The compiled script for later executions; empty when it is too large to be sent."""
    content = marshal.dumps(code)
    return content if len(content) <= MOST_CODE_BYTES else b""


def compiled(script: Script) -> CodeType:
    """The script's code. Raises ScriptFailure (`syntax_error`). Runs nothing of it."""
    if script.code is not None:
        return script.code
    try:
        return compile(script.source, script.file.path, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise _syntax_failure(error, script.file.name) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        detail = str(error) or "it is nested too deeply"
        raise ScriptFailure(
            "syntax_error", f"the script can't be compiled: {detail}", error_type="SyntaxError"
        ) from None


def _syntax_failure(error: SyntaxError, file: str) -> ScriptFailure:
    name = type(error).__name__
    place = f" (line {error.lineno})" if error.lineno else ""
    shown = [f'  File "{file}", line {error.lineno}'] if error.lineno else []
    if error.text:
        line = error.text.rstrip("\n")
        shown.append(f"    {line.strip()}")
        if error.offset and error.offset > 0:
            indent = len(line) - len(line.lstrip())
            shown.append("    " + " " * max(0, error.offset - 1 - indent) + "^")
    text = "\n".join([*shown, f"{name}: {error.msg}"])
    return ScriptFailure(
        "syntax_error",
        f"{name}: {error.msg}{place}",
        error.lineno,
        error.offset if error.offset and error.offset > 0 else None,
        name,
        text,
        text,
        error.msg,
    )


def import_script(script: Script, code: CodeType) -> ModuleType:
    """Runs the script as a module: `agent`, or in a bundle by its own name. Raises whatever the script raises."""
    path, name = script.file.path, script.module
    if script.bundle is not None and script.is_draft:
        import linecache

        # Tracebacks would show the lines of the file.
        lines = script.source.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[path] = (len(script.source), None, lines, path)
    loader = SourceFileLoader(name, path)
    spec = ModuleSpec(name, loader, origin=path)
    spec.has_location = True
    module = ModuleType(name)
    module.__spec__ = spec
    module.__loader__ = loader
    module.__file__ = path
    module.__package__ = ""
    sys.modules[name] = module
    exec(code, module.__dict__)
    return sys.modules.get(name, module)


def find_main(module: ModuleType, source: bytes) -> "tuple[Callable[..., Any], int]":
    """`main` and how many arguments it takes (0 to 2). Raises ScriptFailure (`no_main`, `bad_signature`)."""
    names = vars(module)
    if "main" not in names:
        raise ScriptFailure("no_main", f"the script defines no `main`.{_near(names)} {EXPECTED}")
    main = names["main"]
    if not callable(main):
        raise ScriptFailure("no_main", f"`main` is {with_article(main)}, not a function. {EXPECTED}")
    if type(main) is FunctionType and not hasattr(main, "__wrapped__"):
        return main, _count(main, source)
    return main, _count_by_signature(main, source)


def _near(names: "dict[str, Any]") -> str:
    import difflib

    functions = [name for name, value in names.items() if isinstance(value, FunctionType)]
    by_lower = {name.lower(): name for name in functions}
    near = difflib.get_close_matches("main", by_lower, 1, 0.6)
    name = by_lower[near[0]] if near else functions[0] if len(functions) == 1 else None
    return f" Did you mean `{name}`?" if name else ""


def _count(main: FunctionType, source: bytes) -> int:
    code = main.__code__
    positional = code.co_argcount
    required = positional - len(main.__defaults__ or ())
    keywords = code.co_varnames[positional : positional + code.co_kwonlyargcount]
    missing = [name for name in keywords if name not in (main.__kwdefaults__ or {})]
    extra = list(code.co_varnames[2:required])
    takes_more = bool(code.co_flags & 0x04)  # CO_VARARGS
    return _decide(positional, extra, missing, takes_more, source)


def _count_by_signature(main: Any, source: bytes) -> int:
    import inspect

    try:
        parameters = inspect.signature(main).parameters.values()
    except (TypeError, ValueError):
        return 2  # written in C without a signature
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    extra = [p.name for p in positional[2:] if p.default is p.empty]
    missing = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    takes_more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return _decide(len(positional), extra, missing, takes_more, source)


def _decide(positional: int, extra: "list[str]", missing: "list[str]", takes_more: bool, source: bytes) -> int:
    if not extra and not missing:
        return 2 if takes_more else min(positional, 2)
    parts = []
    if extra:
        parts.append(f"has more than two parameters without a default ({', '.join(extra)} too)")
    if missing:
        parts.append(f"has keyword-only parameters without a default ({', '.join(missing)})")
    message = (
        f"`main` {' and '.join(parts)}; it is called as main(request, store): "
        "take no parameter, one or two, and give all others a default"
    )
    line, column = _definition(source)
    if line:
        message = f"line {line}: {message}"
    raise ScriptFailure("bad_signature", message, line, column, "TypeError")


def _definition(source: bytes) -> "tuple[int | None, int | None]":
    """Line and column, both from 1, of the script's last `def main`."""
    import ast

    tree = ast.parse(source)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [n for n in ast.walk(tree) if isinstance(n, functions) and n.name == "main"]
    return (found[-1].lineno, found[-1].col_offset + 1) if found else (None, None)


def call(
    main: "Callable[..., Any]", arguments: "tuple[Any, ...]", on_task: "Callable[[], None]", stream: Stream
) -> Any:
    """What `main` returns; when it is async, what it awaits, in a task that calls `on_task` first.

    What it yields goes to the stream.
    """
    value = main(*arguments)
    if type(value) is GeneratorType:
        return drain(value, stream)
    is_stream = type(value) is AsyncGeneratorType
    if is_stream or hasattr(type(value), "__await__"):
        import asyncio

        async def outcome() -> Any:
            on_task()
            return await (drain_in_task(value, stream) if is_stream else value)

        return asyncio.run(outcome())
    return value
