"""Runs the examples of a document as a reader would: from the top to the end, in one directory, one shell and one Python.

What a fenced block is says its language. `sh` goes to a shell that lives as long as the document; `python` runs in one
interpreter, unless it defines `main`: then it is made an agent and executed; a first line `# greeter.py` makes it that file,
as `toml` and `text` with such a line. A block without a language right behind is the output to expect: `…` stands for
anything, and identifiers, times, hashes and measured numbers may be others.

A comment before a block says what else there is to know:

    <!-- example: in main -->              lines of a script's main, with `request` and `store`
    <!-- example: payload {"n": 1} -->     the payload with which an agent's script is executed
    <!-- example: status 1 -->             the command is meant to fail
    <!-- example: not run: REASON -->      REASON is one of NOT_RUN

The shell and the interpreter know $URL, $KEY, and after it was seen in an output the last identifier of each kind: $AGENT,
$EXECUTION, $JOB, $STORE, … An identifier that a block itself names stands for that, too.
"""

import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue

LIMIT_SECONDS = 40

NOT_RUN = {
    "cluster": "needs a cluster and Helm; the tests of the chart run the same commands",
    "fragment": "shows a form, not a whole command",
    "start": "starts Roost itself; the tests of the start do so",
    "build": "builds and tests the project",
    "network": "reaches an address that isn't the reader's",
    "interactive": "goes on until it is stopped",
}

# What an identifier's type is called in examples.
NAMES = {
    "agent": "AGENT",
    "exec": "EXECUTION",
    "xjob": "JOB",
    "bjob": "BUILDER_JOB",
    "build": "BUILD",
    "store": "STORE",
    "sched": "SCHEDULE",
    "hook": "HOOK",
    "dlv": "DELIVERY",
    "key": "KEY_ID",
}

IDENTIFIER = re.compile(r"\b(%s)_[0-9a-z]{6,26}(…|\b)" % "|".join(NAMES))
FENCE = re.compile(r"^```(\w*)\s*$")
HINT = re.compile(r"^<!-- example: (.+) -->$")


@dataclass
class Block:
    """One fenced block, with what the comment before it says and the output that follows it."""

    language: str
    text: str
    line: int
    hints: "list[str]" = field(default_factory=list)
    output: "str | None" = None

    def hint(self, name: str) -> "str | None":
        """What stands behind the name in a hint; "" when nothing does; None without that hint."""
        for hint in self.hints:
            if hint == name or hint.startswith((name + " ", name + ": ")):
                return hint[len(name) :].lstrip(": ")
        return None


def blocks(document: str) -> "list[Block]":
    """The fenced blocks of a Markdown document, in their order."""
    found: list[Block] = []
    hints: list[str] = []
    lines = document.splitlines()
    near = False  # nothing but blank lines since the last block
    i = 0
    while i < len(lines):
        fence = FENCE.match(lines[i])
        if fence:
            end = lines.index("```", i + 1)
            text = "\n".join(lines[i + 1 : end])
            if not fence[1] and near and found and found[-1].output is None and not hints:
                found[-1].output = text
            elif fence[1]:
                found.append(Block(fence[1], text, i + 1, hints))
            near, hints, i = bool(fence[1]), [], end
        elif (hint := HINT.match(lines[i].strip())) is not None:
            hints.append(hint[1])
        elif lines[i].strip():
            near = False
        i += 1
    return found


def pattern(expected: str) -> "re.Pattern[str]":
    """What an output has to look like somewhere in it."""
    parts = {
        r"…": r".*?",
        r"\b(?:%s|req|roost)_[0-9a-z_]{6,}" % "|".join(NAMES): r"[a-z]+_[0-9a-z_]+",
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?": r"[0-9T:.Z+\- ]+",
        r"\b\d+(?:\.\d+)? ?(?:ms|s|min|KiB|MiB|GiB)\b(?: ago)?": r"[0-9.]+ ?[a-zA-Z]+(?: ago)?",
        r"\b\d+\.\d{3,}\b": r"[0-9.eE+-]+",
        r"\b[0-9a-f]{16,64}\b": r"[0-9a-f]+",
    }
    regex = ""
    rest = expected.strip()
    finder = re.compile("|".join(f"({part})" for part in parts) + r"|(\s+)")
    replacements = [*parts.values(), r"\s+"]
    position = 0
    for found in finder.finditer(rest):
        regex += re.escape(rest[position : found.start()])
        regex += replacements[found.lastindex - 1]
        position = found.end()
    regex += re.escape(rest[position:])
    # Spaces beside an ellipsis or in JSON that is broken over lines are for the reader.
    regex = regex.replace(r"\s+.*?\s+", ".*?").replace(r"\s+.*?", ".*?").replace(r".*?\s+", ".*?")
    regex = re.sub(r"(?<=[,\[{}\]])\\s\+", r"\\s*", regex)
    return re.compile(regex, re.DOTALL)


class Shell:
    """A shell that keeps its variables from block to block."""

    def __init__(self, directory: Path, environment: "dict[str, str]") -> None:
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)

    def run(self, text: str) -> "tuple[str, int]":
        """What a block prints, and the status of its last command."""
        mark = "--example-ended--"
        self.process.stdin.write(f"{text}\nprintf '\\n{mark} %s\\n' $?\n")
        self.process.stdin.flush()
        output = ""
        while True:
            try:
                line = self.lines.get(timeout=LIMIT_SECONDS)
            except Empty:
                raise AssertionError(f"no end within {LIMIT_SECONDS} s; so far:\n{output}") from None
            if line.startswith(mark):
                return output, int(line.split()[1])
            output += line

    def close(self) -> None:
        """Ends the shell; what it has left running ends with it."""
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait(10)


INTERPRETER = r"""
import asyncio, contextlib, inspect, io, json, sys, traceback, ast
namespace = {"__name__": "__main__"}
for line in sys.stdin:
    text = json.loads(line)
    output, failed = io.StringIO(), False
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = compile(text, "<example>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            result = eval(code, namespace)
            if inspect.iscoroutine(result):
                namespace.setdefault("_loop", asyncio.new_event_loop()).run_until_complete(result)
        except BaseException:
            traceback.print_exc()
            failed = True
    print(json.dumps({"output": output.getvalue(), "failed": failed}), flush=True)
"""


class Interpreter:
    """A Python that keeps its names from block to block; `await` works as in a notebook."""

    def __init__(self, directory: Path, environment: "dict[str, str]") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", INTERPRETER],
            cwd=directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, text: str) -> "tuple[str, int]":
        """What a block prints, and 1 when it has raised."""
        self.process.stdin.write(json.dumps(text) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["output"], int(answer["failed"])

    def close(self) -> None:
        """Ends the interpreter."""
        self.process.stdin.close()
        self.process.wait(10)


class Reader:
    """Goes through one document and runs what it says."""

    def __init__(self, name: str, directory: Path, url: str, key: str) -> None:
        self.name, self.directory, self.url, self.key = name, directory, url, key
        environment = {**os.environ, "URL": url, "KEY": key, "ROOST_URL": url, "ROOST_API_KEY": key}
        environment |= {"HOME": str(directory), "NO_COLOR": "1", "TERM": "dumb"}
        (directory / ".roost").mkdir()
        (directory / ".roost/api_key").write_text(key, encoding="ascii")
        self.shell = Shell(directory, environment)
        self.python = Interpreter(directory, environment)
        self.ids: dict[str, str] = {}
        self.ran: list[str] = []
        self.left: list[str] = []

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.shell.close()
        self.python.close()

    def read(self, block: Block) -> None:
        """Runs one block and compares; raises AssertionError with what was seen."""
        where = f"{self.name}:{block.line}"
        reason = block.hint("not run")
        if reason is not None:
            if reason not in NOT_RUN:
                raise AssertionError(f"{where}: {reason!r} is no reason of {sorted(NOT_RUN)}")
            self.left.append(f"{where} ({NOT_RUN[reason]})")
            return
        output, status = self._run(block)
        wanted = int(block.hint("status") or 0)
        if (status != 0) != (wanted != 0) or (wanted not in (0, status) and block.language == "sh"):
            raise AssertionError(f"{where}: status {status}, not {wanted}\n{block.text}\n-- printed --\n{output}")
        if block.output is not None and not pattern(block.output).search(output):
            raise AssertionError(
                f"{where}: another output\n{block.text}\n-- expected --\n{block.output}\n-- printed --\n{output}"
            )
        self.ran.append(where)
        self._note(output)

    def _run(self, block: Block) -> "tuple[str, int]":
        text = self._named(block.text.replace("http://127.0.0.1:8080", self.url))
        first = re.match(r"# ([\w./-]+\.(?:py|toml|txt|json))(?:\b|:)", text)
        if first and block.language in ("python", "toml", "text", "json"):
            path = self.directory / first[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
            return "", 0
        if block.language == "sh":
            sets = "".join(f"{NAMES[kind]}={value}\n" for kind, value in self.ids.items())
            text = re.sub(r"^(\w+=)\w+_….*$", r": \1", text, flags=re.MULTILINE)
            return self.shell.run(sets + text)
        if block.language == "python":
            if block.hint("in main") is not None:
                lines = "".join(f"    {line}\n" for line in text.splitlines())
                return self._execute(f"def main(request, store):\n{lines}", block)
            if re.search(r"^(async )?def main\(", text, re.MULTILINE):
                return self._execute(text, block)
            return self.python.run(text)
        raise AssertionError(f"{self.name}:{block.line}: what is to be done with {block.language}?")

    def _execute(self, script: str, block: Block) -> "tuple[str, int]":
        """Makes an agent of a script, and executes it."""
        payload = block.hint("payload") or '{"name": "Ada"}'
        requirements = block.hint("requirements") or ""
        given = f"script={script!r}, requirements={requirements!r}"
        return self.python.run(
            f"import roost, json\n_agent = roost.Agent.create({given})\n"
            f"_run = _agent.execute(payload=json.loads({payload!r}), check=True)\n"
            "print(*_run.logs(), json.dumps(_run.return_value), sep='\\n')\n"
        )

    def _named(self, text: str) -> str:
        """The text with the identifiers that there are really."""
        return IDENTIFIER.sub(lambda found: self.ids.get(found[1], found[0]), text)

    def _note(self, output: str) -> None:
        for found in IDENTIFIER.finditer(output):
            if len(found[0]) >= len(found[1]) + 27 and found[1] not in ("key",):
                self.ids[found[1]] = found[0]
