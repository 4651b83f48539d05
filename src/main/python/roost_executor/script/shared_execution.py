"""One of several executions in a process: its task, its output, its end."""

import asyncio
import contextlib
import io
from collections.abc import Sequence
from types import AsyncGeneratorType, FunctionType
from typing import Any, Callable, Protocol

from roost_executor.script.calling import arguments_of, exited, returned
from roost_executor.script.failures import ScriptFailure, ScriptFile, failure_of
from roost_executor.script.job_files import InputFiles
from roost_executor.script.shared_output import stream_of
from roost_executor.script.step_errors import ReplayDiverged
from roost_executor.script.steps import Steps
from roost_executor.script.stream import Stream, StreamError, drain_in_task
from roost_executor.script.type_hints import TypeHints
from roost_executor.script.waits import Waits
from roost_executor.wire.control import ENDED, ENTERED, TaggedChannel

# CO_COROUTINE and CO_ASYNC_GENERATOR of a function's code.
ASYNC_FLAGS = 0x80 | 0x200


class Host(Protocol):
    """The process."""

    places: int
    script_file: ScriptFile

    def main(self, execution: "SharedExecution") -> "tuple[Callable[..., Any], int, TypeHints]":
        """The script's `main`, how many arguments it takes, and its hints."""

    def ended(self, execution: "SharedExecution") -> None:
        """An execution has sent its last record."""


class SharedExecution:
    """What `Child` does for a single execution, in a task."""

    def __init__(self, host: Host, work: "dict[str, Any]", channel: TaggedChannel) -> None:
        self._host = host
        self._work = work
        self.channel = channel
        self.streams: dict[str, io.TextIOWrapper] = {name: stream_of(channel, name) for name in ("stdout", "stderr")}
        # Its own task, and those that it has started.
        self.tasks: set[asyncio.Task[Any]] = set()
        self.task: asyncio.Task[None] | None = None
        # Whether it has ended; what runs in its context after that doesn't belong to it any more.
        self.is_over = False
        self.is_suspended = False
        self._stream = Stream(work["store_socket"], work["limits"].get("stream_value_bytes"))
        self._files: InputFiles | None = None

    async def run(self) -> None:
        """From the work to the record of the end."""
        try:
            record = await self._call()
        except ScriptFailure as failure:
            record = failure.record
        # Cancelling the execution has done its work if it comes now.
        with contextlib.suppress(asyncio.CancelledError):
            await self._end_tasks()
        self.end(record)

    def end(self, record: "dict[str, Any]") -> None:
        """Sends what the execution has printed, and the record of its end, after which it can send nothing."""
        if self.is_over:
            return
        self._flush()
        self.is_over = True
        self.channel.send(ENDED, record)
        if self._files is not None:
            self._files.remove()
        self._host.ended(self)

    def _flush(self) -> None:
        for stream in self.streams.values():
            # Closed by the script: its own business.
            with contextlib.suppress(ValueError):
                stream.flush()

    async def _end_tasks(self) -> None:
        """Cancels the tasks that the execution leaves behind, as `asyncio.run` does."""
        left = [task for task in self.tasks if task is not self.task and not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    async def _call(self) -> "dict[str, Any]":
        importing = True
        steps: Steps | None = None
        try:
            main, count, hints = self._host.main(self)
            importing = False
            self._require_async(main)
            steps = self._steps()
            *arguments, self._files = arguments_of(self._work, self._work["store_socket"], steps)
            self.channel.send(ENTERED, hints.schemas() if self._work.get("reports_schemas") else None)
            steps.enter_task()
            for request in arguments[: min(count, 1)]:
                hints.take(request)
            value = hints.give(await self._value(main, arguments[:count]))
            record = returned(value, self._work["limits"]["return_value_bytes"])
            await self._close_stream()
            steps.returned()
            return record
        except ScriptFailure:
            raise
        except SystemExit as error:
            await self._end_stream()
            if steps:
                steps.failed(error)
            return exited(error)
        except BaseException as error:
            await self._end_stream()
            cause = steps.failed(error) if steps else error
            failure = failure_of(cause, self._host.script_file, importing)
            if isinstance(cause, ReplayDiverged):
                failure["reason"] = "replay_diverged"
            return failure

    async def _value(self, main: "Callable[..., Any]", arguments: "Sequence[Any]") -> Any:
        value = main(*arguments)
        if type(value) is AsyncGeneratorType:
            return await drain_in_task(value, self._stream)
        if not hasattr(type(value), "__await__"):
            raise self._not_async()
        return await value

    def _require_async(self, main: "Callable[..., Any]") -> None:
        """Before it is called, as far as that can be known. Raises ScriptFailure."""
        if type(main) is FunctionType and not hasattr(main, "__wrapped__") and not main.__code__.co_flags & ASYNC_FLAGS:
            raise self._not_async(main.__code__.co_firstlineno)

    def _not_async(self, line: "int | None" = None) -> ScriptFailure:
        return ScriptFailure(
            "bad_signature",
            f"{'' if line is None else f'line {line}: '}`main` isn't async, and the agent's requests_per_process is "
            f"{self._host.places}. Define `async def main`, or set requests_per_process to 1",
            line,
            None,
            "TypeError",
        )

    async def _close_stream(self) -> None:
        if self._stream.is_unused:
            self._stream.close()
        else:
            await asyncio.to_thread(self._stream.close)

    async def _end_stream(self) -> None:
        """When the script has failed: what it has emitted before is stored if that is possible."""
        with contextlib.suppress(StreamError, asyncio.CancelledError):
            await self._close_stream()

    def _steps(self) -> Steps:
        work = self._work
        waits = Waits(
            self._suspend,
            work["limits"].get("suspend_after_seconds"),
            lambda: sum(not task.done() for task in self.tasks),
        )
        return Steps(
            work["store_socket"],
            self._host.script_file,
            work["execution_id"],
            work.get("has_steps", False),
            waits,
            self._stream,
        )

    def _suspend(self, waits: "Sequence[int]", are_all: bool) -> None:
        """Ends the execution, which is to be continued by another one. Its tasks stop where they are."""
        self._stream.close()
        self.is_suspended = True
        self.end({"waits": waits, "all": are_all})
