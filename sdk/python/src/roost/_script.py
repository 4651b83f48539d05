"""Static checks of a script."""

from __future__ import annotations

import ast
import re
import symtable
import sys
import warnings

from ._errors import ScriptError

__all__ = ["is_as_new_as", "check", "syntax_error"]

# A script that uses one of these may define `main` dynamically.
_DYNAMIC = frozenset({"exec", "globals", "locals", "vars", "setattr", "__dict__", "__getattr__"})


def check(script: str) -> ScriptError | None:
    """Raise `ScriptError` for a script that certainly can't run; return a syntax error, if any.

    A syntax error is only conclusive if `is_as_new_as` the Python that will run the script.
    """
    text = script[1:] if script.startswith("\ufeff") else script
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, "agent.py")
            compile(tree, "agent.py", "exec", dont_inherit=True)
            table = symtable.symtable(text, "agent.py", "exec")
    except SyntaxError as error:
        return syntax_error(error)
    except ValueError as error:  # a null character, before Python 3.12
        raise _script_error(str(error), "syntax_error") from None
    except (MemoryError, RecursionError):  # nested too deeply here, perhaps not there
        return None
    if not _may_have_main(tree, table):
        raise _script_error(
            "the script has no main function: define `def main(request, store):` at its top level",
            "no_main",
        )
    return None


def is_as_new_as(python_version: str | None) -> bool:
    """Return whether this Python is at least that version; older ones reject newer syntax."""
    match = re.match(r"(\d+)\.(\d+)", python_version or "")
    return match is not None and sys.version_info[:2] >= (int(match[1]), int(match[2]))


def _may_have_main(tree: ast.Module, table: symtable.SymbolTable) -> bool:
    if "main" in table.get_identifiers():
        symbol = table.lookup("main")
        if symbol.is_assigned() or symbol.is_imported():
            return True
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(name.name == "*" for name in node.names):
            return True
        if isinstance(node, ast.Global) and "main" in node.names:
            return True
        if isinstance(node, ast.Name) and node.id in _DYNAMIC:
            return True
        if isinstance(node, ast.Attribute) and node.attr in _DYNAMIC:
            return True
        if isinstance(node, ast.FunctionDef) and node.name in _DYNAMIC:
            return True
    return False


def syntax_error(error: SyntaxError) -> ScriptError:
    """Return the ScriptError for a syntax error."""
    where = f"line {error.lineno}: " if error.lineno else ""
    text = f"\n    {error.text.strip()}" if error.text and error.text.strip() else ""
    found = _script_error(
        f"the script has a syntax error: {where}{error.msg}{text}", "syntax_error"
    )
    found.line, found.column = error.lineno, error.offset
    return found


def _script_error(message: str, code: str) -> ScriptError:
    return ScriptError(message, code=code, detail=message)
