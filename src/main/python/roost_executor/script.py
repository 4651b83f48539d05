"""Importing the script and calling its `main`."""

import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable

from roost_executor.failures import ScriptFailure
from roost_executor.jsonvalue import with_article

MODULE = "agent"
WANTED = "Define `def main(request, store):` with no parameter, one or two"


def load_code(path: str) -> "tuple[SourceFileLoader, CodeType]":
    """Compiles the script, or takes the compiled one that an earlier execution has left beside it.

    Raises ScriptFailure (`syntax_error`). Runs nothing of it.
    """
    loader = SourceFileLoader(MODULE, path)
    writes_none = sys.dont_write_bytecode
    sys.dont_write_bytecode = False
    try:
        return loader, loader.get_code(MODULE)
    except SyntaxError as error:
        raise _syntax_failure(error) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        detail = str(error) or "it is nested too deeply"
        raise ScriptFailure(
            "syntax_error", f"the script can't be compiled: {detail}", error_type="SyntaxError"
        ) from None
    finally:
        sys.dont_write_bytecode = writes_none


def _syntax_failure(error: SyntaxError) -> ScriptFailure:
    name = type(error).__name__
    place = f" (line {error.lineno})" if error.lineno else ""
    shown = [f'  File "agent.py", line {error.lineno}'] if error.lineno else []
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


def import_script(path: str) -> ModuleType:
    """Runs the script as the module `agent`. Raises ScriptFailure or whatever the script raises."""
    loader, code = load_code(path)
    spec = ModuleSpec(MODULE, loader, origin=path)
    spec.has_location = True
    module = ModuleType(MODULE)
    module.__spec__ = spec
    module.__loader__ = loader
    module.__file__ = path
    module.__package__ = ""
    sys.modules[MODULE] = module
    exec(code, module.__dict__)
    return sys.modules.get(MODULE, module)


def find_main(module: ModuleType, path: str) -> "tuple[Callable[..., Any], int]":
    """`main` and how many arguments it takes (0 to 2). Raises ScriptFailure (`no_main`, `bad_signature`)."""
    names = vars(module)
    if "main" not in names:
        raise ScriptFailure("no_main", f"the script defines no `main`.{_near(names)} {WANTED}")
    main = names["main"]
    if not callable(main):
        raise ScriptFailure("no_main", f"`main` is {with_article(main)}, no function. {WANTED}")
    if type(main) is FunctionType and not hasattr(main, "__wrapped__"):
        return main, _count(main, path)
    return main, _count_by_signature(main, path)


def _near(names: "dict[str, Any]") -> str:
    import difflib

    functions = [name for name, value in names.items() if isinstance(value, FunctionType)]
    by_lower = {name.lower(): name for name in functions}
    near = difflib.get_close_matches("main", by_lower, 1, 0.6)
    name = by_lower[near[0]] if near else functions[0] if len(functions) == 1 else None
    return f" Did you mean `{name}`?" if name else ""


def _count(main: FunctionType, path: str) -> int:
    code = main.__code__
    positional = code.co_argcount
    required = positional - len(main.__defaults__ or ())
    keywords = code.co_varnames[positional : positional + code.co_kwonlyargcount]
    missing = [name for name in keywords if name not in (main.__kwdefaults__ or {})]
    extra = list(code.co_varnames[2:required])
    takes_more = bool(code.co_flags & 0x04)  # CO_VARARGS
    return _decide(positional, extra, missing, takes_more, path)


def _count_by_signature(main: Any, path: str) -> int:
    import inspect

    try:
        parameters = inspect.signature(main).parameters.values()
    except (TypeError, ValueError):
        return 2  # written in C and saying nothing of its parameters
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    extra = [p.name for p in positional[2:] if p.default is p.empty]
    missing = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    takes_more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return _decide(len(positional), extra, missing, takes_more, path)


def _decide(positional: int, extra: "list[str]", missing: "list[str]", takes_more: bool, path: str) -> int:
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
    line, column = _definition(path)
    if line:
        message = f"line {line}: {message}"
    raise ScriptFailure("bad_signature", message, line, column, "TypeError")


def _definition(path: str) -> "tuple[int | None, int | None]":
    """Line and column, both from 1, of the script's last `def main`."""
    import ast

    with open(path, "rb") as file:
        tree = ast.parse(file.read())
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [n for n in ast.walk(tree) if isinstance(n, functions) and n.name == "main"]
    return (found[-1].lineno, found[-1].col_offset + 1) if found else (None, None)


def call(main: "Callable[..., Any]", arguments: "tuple[Any, ...]") -> Any:
    """What `main` returns; what it awaits, when it is async."""
    value = main(*arguments)
    if hasattr(type(value), "__await__"):
        import asyncio

        async def outcome() -> Any:
            return await value

        return asyncio.run(outcome())
    return value


def write_script(directory: str, text: str) -> str:
    """Writes `agent.py` into `directory` unless it is there with this text; returns its path."""
    path = os.path.join(directory, MODULE + ".py")
    content = text.encode("utf-8", "surrogatepass")
    try:
        with open(path, "rb") as file:
            if file.read() == content:
                return path
    except FileNotFoundError:
        os.makedirs(directory, exist_ok=True)
    cache = os.path.join(directory, "__pycache__")
    if os.path.isdir(cache):
        for name in os.listdir(cache):
            # Its validity is judged by size and whole seconds: too coarse for a script just replaced.
            os.unlink(os.path.join(cache, name))
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.replace(path + ".new", path)
    return path
