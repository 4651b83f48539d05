"""Runs the examples of a document as a reader would: from the top to the end, in one directory, one shell and one Python.

What a fenced block is says its language:

- `sh` goes to a shell that lives as long as the document; `console` too, with `$ ` before each command and what it shows.
- `python` runs in one interpreter, unless it defines `main` and doesn't call it: then it is made an agent and executed.
- A block of any language whose text before it ends with the name of a file, as in "`greeter.py`:", or whose first line
  is a comment with one, is written to that file.
- A block without a language right behind another is the output to expect: `…` stands for anything, and identifiers,
  times, hashes and measured numbers may be others (outputs.py).

A comment before a block says what else there is to know; with `examples` it holds for all blocks from there on:

    <!-- example: in main -->              lines of a script's main, with `request` and `store`
    <!-- example: payload {"n": 1} -->     the payload with which an agent's script is executed
    <!-- example: status 1 -->             the command is meant to fail
    <!-- example: goes on -->              runs beside what follows, until the document ends
    <!-- example: not run: REASON -->      REASON is one of NOT_RUN

The shell knows $URL and $KEY. `agent_…` in what a reader is to type is the last agent seen; likewise all identifiers.
"""

import os
import re
import socket
import sys
from pathlib import Path

from document import Block, commands
from outputs import IDENTIFIER, shows
from sessions import Interpreter, Shell

SDK = Path(__file__).resolve().parents[4] / "sdk/python/src"
LOCAL = "http://127.0.0.1:8080"
RECEIVER = "http://127.0.0.1:9000"

NOT_RUN = {
    "cluster": "needs a cluster, Helm and a registry; the end-to-end tests on Kubernetes install the chart",
    "fragment": "shows a form, not a whole command",
    "start": "starts Roost itself; the end-to-end tests do so",
    "data": "needs the data directory of that Roost, and pg_dump",
    "build": "builds and tests the project",
    "install": "installs what the tests have already; the SDK's tests install its wheel",
    "network": "reaches an address that isn't the reader's",
    "interactive": "goes on until it is stopped, or asks",
}


class Reader:
    """Goes through one document and runs what it says."""

    def __init__(self, name: str, directory: Path, url: str, key: str) -> None:
        self.name, self.directory, self.url = name, directory, url
        # Bound and not listened on, so that it stays free for the reader's own server (all of Python's set this option).
        self.port = socket.socket()
        self.port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.port.bind(("127.0.0.1", 0))
        environment = {**os.environ, "URL": url, "KEY": key, "ROOST_URL": url, "ROOST_API_KEY": key}
        environment |= {"HOME": str(directory), "XDG_CACHE_HOME": str(directory.parent / "cache")}
        environment |= {"PYTHONPATH": str(SDK), "PATH": f"{self._programs()}:{os.environ['PATH']}"}
        environment |= {"PORT": str(self.port.getsockname()[1])}
        environment |= {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
        (directory / ".roost").mkdir()
        (directory / ".roost/api_key").write_text(key, encoding="ascii")
        self.shell = Shell(directory, environment)
        self.python = Interpreter(directory, environment)
        self.seen: dict[str, str] = {}
        self.ran: list[str] = []
        self.left: list[str] = []

    def _programs(self) -> Path:
        """A directory with `roost` as it is installed with the SDK, and this Python."""
        programs = self.directory / ".bin"
        programs.mkdir()
        texts = {"python3": '"$@"', "roost": '-c "from roost._cli import main; main()" "$@"'}
        for name, arguments in texts.items():
            (programs / name).write_text(f"#!/bin/sh\nexec '{sys.executable}' {arguments}\n", encoding="ascii")
            (programs / name).chmod(0o755)
        return programs

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.shell.close()
        self.python.close()
        self.port.close()

    def read(self, block: Block) -> None:
        """Runs one block and compares; raises AssertionError with what was seen."""
        where = f"{self.name}:{block.line}"
        reason = block.hint("not run")
        if block.file is not None:
            path = self.directory / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text + "\n", encoding="utf-8")
        elif block.language not in ("sh", "console", "python"):
            return
        elif reason is not None:
            if reason not in NOT_RUN:
                raise AssertionError(f"{where}: {reason!r} is no reason of {sorted(NOT_RUN)}")
            self.left.append(f"{where} ({NOT_RUN[reason]})")
        elif block.language == "console":
            for command, output in commands(block.text):
                self._check(where, command, *self.shell.run(self._typed(command)), expected=output, wanted=None)
        else:
            wanted = int(block.hint("status") or 0)
            self._check(where, block.text, *self._run(block), expected=block.output, wanted=wanted)

    def _check(
        self, where: str, text: str, output: str, status: int, expected: "str | None", wanted: "int | None"
    ) -> None:
        printed = f"{text}\n-- printed --\n{output}"
        if wanted is not None and status != wanted:
            raise AssertionError(f"{where}: status {status}, not {wanted}\n{printed}")
        if "/docs/errors#" in output and "/docs/errors#" not in (expected or ""):
            raise AssertionError(f"{where}: an error is answered\n{printed}")
        if expected is not None and not shows(expected, output):
            raise AssertionError(f"{where}: another output than\n{expected}\n-- of --\n{printed}")
        self.seen.update((found[1], found[0]) for found in IDENTIFIER.finditer(output) if "…" not in found[0])
        self.ran.append(where)

    def _run(self, block: Block) -> "tuple[str, int]":
        text = self._typed(block.text)
        if block.hint("goes on") is not None:
            return self.shell.run(text + " &" if block.language == "sh" else text)
        if block.language == "sh":
            return self.shell.run(text)
        if block.hint("in main") is not None:
            lines = "".join(f"    {line}\n" for line in text.splitlines())
            return self._execute(f"def main(request, store):\n{lines}", block)
        if re.search(r"^(async )?def main\(", text, re.MULTILINE) and "asyncio.run(" not in text:
            return self._execute(text, block)
        return self.python.run(text)

    def _execute(self, script: str, block: Block) -> "tuple[str, int]":
        """Makes an agent of a script, and executes it."""
        payload = block.hint("payload") or '{"name": "Ada"}'
        return self.python.run(
            f"import json, roost\n_agent = roost.Agent.create(script={script!r})\n"
            f"_run = _agent.execute(payload=json.loads({payload!r}), check=True)\n"
            "print(*_run.logs(), json.dumps(_run.return_value), sep='\\n')\n"
        )

    def _typed(self, text: str) -> str:
        """What a reader types, with the identifiers and the addresses that there are really."""
        text = text.replace(LOCAL, self.url).replace(RECEIVER, f"http://127.0.0.1:{self.port.getsockname()[1]}")
        return IDENTIFIER.sub(lambda found: self.seen.get(found[1], found[0]), text)
