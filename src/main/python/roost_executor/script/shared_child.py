"""The process of several executions at a time: an event loop with a task for each of them.

The script is imported once, by the first execution. Each execution runs in a copy of the context in which only the
variable that names it is set, so that tasks, and threads of `asyncio.to_thread`, know whose they are.
"""

import asyncio
import contextlib
import contextvars
import os
import sys
from collections.abc import Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

from roost_executor import sandbox
from roost_executor.script.child import Child
from roost_executor.script.failures import failure_of
from roost_executor.script.output import set_up_logging
from roost_executor.script.script import code_bytes, compiled, find_main, import_script
from roost_executor.script.shared_execution import SharedExecution
from roost_executor.script.shared_output import ContextChannel, ContextStream, current
from roost_executor.script.type_hints import TypeHints, type_hints
from roost_executor.wire.control import RETIRED, Channel, TaggedChannel
from roost_executor.wire.work import Ends, receive_shared

# Of `asyncio.to_thread`: Python's own number depends on the processors, and threads that wait need none.
LEAST_THREADS = 32


class SharedChild(Child):
    """Runs executions until the runner closes the connection."""

    def _serve(self, ends: Ends) -> None:
        ends.work.send(b"%d" % os.getpid())
        self._connection = ends.work
        self._executions: dict[int, SharedExecution] = {}
        # Suspended ones: collecting their tasks would run their `finally` blocks.
        self._kept: list[SharedExecution] = []
        self._main: tuple[Callable[..., Any], int, TypeHints] | None = None
        self._importing = False
        self._is_closed = False
        self.places = 1
        self.script_file = self._script.file
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        loop.set_task_factory(self._make_task)
        loop.set_exception_handler(_handle_exception)
        loop.add_reader(ends.work.fileno(), self._receive, loop)
        while not self._is_closed:
            # A task of the script that calls sys.exit ends the loop, but not the other executions.
            with contextlib.suppress(SystemExit, KeyboardInterrupt):
                loop.run_forever()
        os._exit(0)

    @staticmethod
    def _redirect(out: int, err: int, control: int) -> Channel:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = sys.__stdout__ = ContextStream("stdout", 1)  # type: ignore[assignment,misc]
        sys.stderr = sys.__stderr__ = ContextStream("stderr", 2)  # type: ignore[assignment,misc]
        set_up_logging(ContextChannel())
        return Channel(control, lambda: None)

    def _receive(self, loop: asyncio.AbstractEventLoop) -> None:
        message = receive_shared(self._connection)
        if message is None:
            self._is_closed = True
            loop.stop()
        elif message.work is not None:
            self._begin(loop, message.number, message.work)
        else:
            execution = self._executions.get(message.number)
            if execution is not None and execution.task is not None:
                execution.task.cancel()

    def _begin(self, loop: asyncio.AbstractEventLoop, number: int, work: "dict[str, Any]") -> None:
        if not self._work:
            self._work = work
            self.places = work["places"]
            self.limit_memory(work["memory_mib"])
            os.chdir(work["directory"])
            sandbox.use_directory(work["directory"])
            loop.set_default_executor(ThreadPoolExecutor(max(LEAST_THREADS, self.places)))
        execution = SharedExecution(self, work, TaggedChannel(self._channel, number))
        self._executions[number] = execution

        def start() -> None:
            current.set(execution)
            execution.task = loop.create_task(execution.run())

        contextvars.copy_context().run(start)
        assert execution.task is not None
        execution.task.add_done_callback(lambda task: execution.end(self._record_of(task)))

    def _record_of(self, task: "asyncio.Task[None]") -> "dict[str, Any]":
        """Of a task that has not come to its own: cancelled before it has begun, its coroutine doesn't run at all."""
        error = None if task.cancelled() else task.exception()
        if error is None:
            return {"reason": "cancelled", "message": "the execution was cancelled", "error": None}
        return failure_of(error, self.script_file, importing=False)

    def ended(self, execution: SharedExecution) -> None:
        """An execution has sent its last record."""
        for number, other in list(self._executions.items()):
            if other is execution:
                del self._executions[number]
        if execution.is_suspended:
            self._kept.append(execution)

    def main(self, execution: SharedExecution) -> "tuple[Callable[..., Any], int, TypeHints]":
        """The script's `main`, how many arguments it takes, and its hints.

        Raises ScriptFailure, and what the import raises.
        """
        if self._main is None:
            try:
                self._importing = True
                self._main = self._import()
            except BaseException:
                # Another process imports it from the start.
                execution.channel.send(RETIRED, None)
                raise
            finally:
                self._importing = False
        return self._main

    def _import(self) -> "tuple[Callable[..., Any], int, TypeHints]":
        code = compiled(self._script)
        if self._script.code is None:
            self._channel.send_code(code_bytes(code))
        module = import_script(self._script, code)
        main, count = find_main(module, self._script.source)
        return main, count, type_hints(main, module)

    def _make_task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> "asyncio.Task[Any]":
        context = options.get("context")
        execution = current.get() if context is None else context.get(current)
        if not isinstance(execution, SharedExecution) or execution.is_over or self._importing:
            return asyncio.Task(coroutine, loop=loop, **options)
        if not isinstance(coroutine, Coroutine):
            return asyncio.Task(coroutine, loop=loop, **options)
        task = asyncio.Task(Guard(coroutine, execution, loop), loop=loop, **options)
        execution.tasks.add(task)
        task.add_done_callback(execution.tasks.discard)
        return task


class Guard(Coroutine):  # type: ignore[type-arg]
    """A task's coroutine, which is resumed no more when its execution is suspended."""

    def __init__(
        self, coroutine: "Coroutine[Any, Any, Any]", execution: SharedExecution, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._coroutine = coroutine
        self._execution = execution
        self._loop = loop

    def _never(self) -> Any:
        future = self._loop.create_future()
        future._asyncio_future_blocking = True  # as `await` does
        return future

    def send(self, value: Any) -> Any:
        """Resumes it."""
        return self._never() if self._execution.is_suspended else self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        """Resumes it with an exception."""
        return self._never() if self._execution.is_suspended else self._coroutine.throw(*error)

    def close(self) -> None:
        """Ends it."""
        if not self._execution.is_suspended:
            self._coroutine.close()

    def __await__(self) -> "Generator[Any, Any, Any]":
        return (yield from self._coroutine.__await__())

    def __getattr__(self, name: str) -> Any:
        # What shows tasks reads cr_code, cr_frame and so on.
        return getattr(self._coroutine, name)


def _handle_exception(loop: asyncio.AbstractEventLoop, context: "dict[str, Any]") -> None:
    """Logs an exception that nobody has retrieved, for the execution whose task it is, not for the one that runs."""
    task: Any = context.get("task") or context.get("future")
    own = task.get_context() if hasattr(task, "get_context") else contextvars.Context()
    try:
        own.run(loop.default_exception_handler, context)
    except RuntimeError:
        loop.default_exception_handler(context)  # that context is the one that runs
