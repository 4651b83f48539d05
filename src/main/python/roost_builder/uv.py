"""Runs ``uv`` and prints its output."""

import collections
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from roost_builder import credentials
from roost_builder.failures import BuildFailed, cause_of, failure_of

MAX_LINE_CHARACTERS = 16_384
KEPT_LINES = 400


class Output(NamedTuple):
    """How a run of uv ended: its exit status and its output, without the middle when that is very long."""

    status: int
    lines: list[str]


class Uv:
    """uv, run in one directory with one environment.

    Not in a directory of the caller's, where uv would look for a project and its settings.
    """

    def __init__(
        self,
        executable: Path,
        directory: Path,
        environment: dict[str, str],
        hidden: Sequence[str] = (),
        confine: Optional[Callable[[], None]] = None,
    ) -> None:
        """confine: called in the process that becomes uv."""
        self.executable = executable
        self.directory = directory
        self.environment = environment
        self.hidden = hidden
        self.confine = confine

    def run(self, *arguments: str) -> None:
        """Run uv, print its output, and raise BuildFailed when it fails."""
        output = self._run(arguments)
        if output.status != 0:
            raise failure_of(output.status, output.lines)

    def output(self, *arguments: str, given: str) -> list[str]:
        """uv's output for this standard input; empty when it fails."""
        result = subprocess.run(
            [str(self.executable), *arguments],
            cwd=self.directory,
            env=self.environment,
            preexec_fn=self.confine,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        return result.stdout.splitlines() if result.returncode == 0 else []

    def _run(self, arguments: tuple[str, ...]) -> Output:
        try:
            process = subprocess.Popen(
                [str(self.executable), *arguments],
                cwd=self.directory,
                env=self.environment,
                preexec_fn=self.confine,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
        except (FileNotFoundError, PermissionError) as error:
            raise BuildFailed("runtime_unavailable", f"uv can't be run: {cause_of(error)}") from error
        except subprocess.SubprocessError as error:
            raise BuildFailed("runtime_unavailable", "uv can't be confined (roost.local.sandbox)") from error
        head: list[str] = []
        tail: collections.deque[str] = collections.deque(maxlen=KEPT_LINES)
        assert process.stdout is not None
        for raw in process.stdout:
            line = credentials.hide(raw.rstrip("\n"), self.hidden)[:MAX_LINE_CHARACTERS]
            print(line)
            if len(head) < KEPT_LINES:
                head.append(line)
            else:
                tail.append(line)
        return Output(process.wait(), head + list(tail))
