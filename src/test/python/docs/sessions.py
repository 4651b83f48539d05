"""A shell and a Python, each of which lives as long as a document."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue

LIMIT_SECONDS = 180
MARK = "--the example has ended--"

# Reads the names of files from its input, runs them, and says how each ended. `await` works as in a notebook.
INTERPRETER = f"""
import ast, asyncio, inspect, linecache, sys, traceback
namespace = {{"__name__": "__main__"}}
for name in iter(sys.stdin.readline, ""):
    status = 0
    try:
        linecache.checkcache()
        text = open(name.strip(), encoding="utf-8").read()
        result = eval(compile(text, name.strip(), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), namespace)
        if inspect.iscoroutine(result):
            namespace.setdefault("_loop", asyncio.new_event_loop()).run_until_complete(result)
    except BaseException:
        traceback.print_exc()
        status = 1
    print("\\n{MARK}", status, flush=True)
"""


class Session:
    """A process that runs one text after another and keeps its variables in between."""

    def __init__(self, command: "list[str]", directory: Path, environment: "dict[str, str]") -> None:
        self.file = directory / f".{Path(command[0]).name}-example"
        self.process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)

    def request(self) -> str:
        """What is to be written to the process to have the file run."""
        return f"{self.file}\n"

    def run(self, text: str) -> "tuple[str, int]":
        """What a text prints, and its status: 0 when nothing in it has failed."""
        self.file.write_text(text + "\n", encoding="utf-8")
        self.process.stdin.write(self.request())
        self.process.stdin.flush()
        output = ""
        while True:
            try:
                line = self.lines.get(timeout=LIMIT_SECONDS)
            except Empty:
                raise AssertionError(f"nothing more within {LIMIT_SECONDS} s; so far:\n{output}") from None
            if line.startswith(MARK):
                return output, int(line.split()[-1])
            output += line

    def close(self) -> None:
        """Ends the process, and with it what it has left running."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Shell(Session):
    """Bash."""

    def __init__(self, directory: Path, environment: "dict[str, str]") -> None:
        super().__init__(["bash", "--noprofile", "--norc"], directory, environment)

    def request(self) -> str:
        """Has the file run with an empty input; of several commands that fail, the last one's status counts."""
        return f"s=0; trap 's=$?' ERR; . '{self.file}' </dev/null; trap - ERR; printf '\\n{MARK} %s\\n' $s\n"


class Interpreter(Session):
    """Python."""

    def __init__(self, directory: Path, environment: "dict[str, str]") -> None:
        super().__init__([sys.executable, "-u", "-c", INTERPRETER], directory, environment)
