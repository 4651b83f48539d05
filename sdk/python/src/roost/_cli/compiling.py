"""Whether a script compiles on the Python that will run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from .._script import check, syntax_error

if TYPE_CHECKING:
    from .planning import Plan

__all__ = ["compile_script"]

_SECONDS = 30
_COMPILE = """
import json, sys
try:
    compile(sys.stdin.buffer.read(), "agent.py", "exec", dont_inherit=True)
except SyntaxError as error:
    print(json.dumps([error.msg, error.lineno, error.offset, error.text]))
except Exception:
    pass
"""


def compile_script(plan: Plan) -> str | None:
    """Compile the script with the agent's Python; return a warning if that isn't possible.

    Raises `ScriptError` for a syntax error.
    """
    is_new = plan.agent is None or plan.files is not None
    if not is_new and not {"script", "script_path", "python_version"} & set(plan.settings):
        return None
    version = plan.settings.get("python_version") or (plan.agent and plan.agent.python_version)
    if not version:
        return None
    if version == "{}.{}".format(*sys.version_info[:2]):
        error = check(plan.file.text)
        if error is not None:
            raise error
        return None
    from .._run.interpreters import installed

    interpreter = installed(version, os.environ)
    if interpreter is None:
        return (
            f"{plan.file.name} was not checked with Python {version}, which isn't installed here."
        )
    try:
        output = subprocess.run(
            [str(interpreter.path), "-I", "-S", "-W", "ignore", "-c", _COMPILE],
            input=plan.file.text.encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return f"{plan.file.name} was not checked with Python {version}, which doesn't respond."
    if output:
        message, line, column, text = json.loads(output)
        found = SyntaxError(f"{message} (Python {version})", ("agent.py", line, column, text))
        raise syntax_error(found)
    return None
