"""`roost run`: an agent on this machine, without a server."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click

from .failures import FAILED, INTERRUPTED, TIMED_OUT, USAGE, Failure
from .options import json_option, payload_option
from .texts import examples

if TYPE_CHECKING:
    from .._run.file_watch import FileWatch
    from .._run.local_run import Execution, LocalRun
    from .run_output import RunOutput
    from .run_plan import Options, Plan

__all__ = ["run"]

_TERMINATED = 128 + signal.SIGTERM
_RESTART_SECONDS = 1.0


@click.command(
    epilog=examples(
        """
        roost run greeter.py --payload '{"name": "Ada"}'
        roost run greeter.py --payload @people.json --watch
        roost run greeter.py --env-file .env --store people > result.json
        roost run . --agent greeter                     # of a roost.toml
        """
    )
)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--agent", metavar="NAME", help="Which agent of a roost.toml with several.")
@payload_option
@click.option("--watch", is_flag=True, help="Run again whenever one of its files changes.")
@click.option("--env", multiple=True, metavar="KEY=VALUE", help="Set an environment variable.")
@click.option(
    "--env-file", type=click.Path(path_type=Path), metavar="FILE", help="KEY=VALUE lines."
)
@click.option(
    "-r",
    "--requirements",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Packages, name==version a line, instead of the script's own.",
)
@click.option("--python", metavar="VERSION", help="Version of Python, such as 3.13.")
@click.option("--store", "stores", multiple=True, metavar="NAME", help="A store that it gets.")
@click.option(
    "--store-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where stores are kept.  [default: .roost beside the script]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    help="From the start of the script on.  [default: the agent's, else 900]",
)
@json_option
def run(watch: bool, as_json: bool, **options: Any) -> None:
    """Run an agent here, without a server.

    FILE is a script, or a roost.toml or its directory. The same executor runs it as on a server,
    with the same limits and results. Log lines go to standard error, the return value to standard
    output. With --json that is the Execution with its logs. Ctrl-C cancels.

    Stores are kept in a file beside the script, and shared by all that run there. Not to be had
    without a server: schedules, webhooks and events, further attempts (max_attempts), queues
    (max_concurrency, priority), cpu, and isolation "pod"; these settings are read and do nothing.
    """
    from .run_output import RunOutput
    from .run_plan import Options

    given, output = Options(**options), RunOutput(as_json)
    with _ended_by_sigterm():
        if watch:
            _watch(given, output)
        execution = _run(given, output)
        output.result(execution)
        sys.exit(_exit_code(execution))


class _Changed(Exception):
    """A run was ended because files have changed."""

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__(*paths)
        self.paths = paths


def _watch(options: Options, output: RunOutput) -> NoReturn:
    """Run again and again; Ctrl-C ends it."""
    from .._run.file_watch import FileWatch

    if options.payload == "-":
        options = dataclasses.replace(options, payload=sys.stdin.read())
    watch = FileWatch(options.files)
    while True:
        try:
            execution = _run(options, output, watch)
            output.result(execution)
            if execution.outcome.state == "cancelled":
                sys.exit(INTERRUPTED)
            output.note(f"{execution.seconds:.2f} s. Waiting for a change; Ctrl-C ends this.")
            changed: Sequence[Path] = watch.wait()
        except _Changed as error:
            changed = error.paths
        except click.ClickException as error:
            error.show()
            changed = watch.wait()
        output.note(f"changed: {', '.join(str(path) for path in changed)}")


def _run(options: Options, output: RunOutput, watch: FileWatch | None = None) -> Execution:
    """Read the files and run the agent once. Raises `_Changed` when `watch` sees a change."""
    from .._run.failures import BuildFailed, CannotRun
    from .._run.local_run import Execution, LocalRun
    from .._run.stores import Stores
    from .mistakes import ProjectError
    from .run_plan import Plan

    try:
        plan = Plan.read(options, os.environ)
        output.begin(plan.agent)
        if watch is not None:
            watch.add(plan.agent.files)
        environment = _environment(plan)
        stores, take = Stores(plan.stores_file), output.entries
        with contextlib.closing(stores), LocalRun(plan.order, environment, stores, take) as running:
            return _followed(running, output, watch)
    except BuildFailed as error:
        return Execution.not_built(error.message)
    except ProjectError as error:
        raise Failure(str(error), USAGE) from None
    except CannotRun as error:
        raise Failure(str(error), FAILED) from None


def _environment(plan: Plan) -> Path:
    """Return the environment with the agent's packages; it is made when it isn't there."""
    from .._run import builds, interpreters
    from .progress import Progress

    uv = builds.find_uv(os.environ)
    if uv is None:
        with Progress() as progress:
            progress.say("Fetching uv, which installs packages")
            uv = builds.fetch_uv(os.environ)
    interpreter = interpreters.find(plan.python_version, uv, os.environ)
    place = builds.place_of(interpreter, plan.requirements, os.environ)
    if not builds.is_built(place):
        with Progress() as progress:
            count = len(plan.requirements)
            packages = f"{count} package{'' if count == 1 else 's'}"
            progress.say(f"Installing {packages} for Python {interpreter.version}")
            builds.build(place, interpreter, plan.requirements, uv, os.environ, progress.log)
    return place


def _followed(running: LocalRun, output: RunOutput, watch: FileWatch | None) -> Execution:
    """Wait for the end. The first Ctrl-C cancels, the second one doesn't wait any longer."""
    cancelled = False
    while True:
        try:
            execution = running.wait()
            if execution is not None:
                return execution
            changed = watch.changed() if watch is not None and not cancelled else []
        except KeyboardInterrupt:
            if cancelled:
                raise
            cancelled = True
            running.cancel()
            output.note("Cancelling: the script has got SIGTERM. Ctrl-C again kills it.")
            continue
        if changed:
            running.cancel()
            running.wait(_RESTART_SECONDS)
            raise _Changed(changed)


def _exit_code(execution: Execution) -> int:
    codes = {"succeeded": 0, "timed_out": TIMED_OUT, "cancelled": INTERRUPTED}
    return codes.get(execution.outcome.state, FAILED)


@contextlib.contextmanager
def _ended_by_sigterm() -> Generator[None]:
    """Make SIGTERM end the block in order, so that nothing of the run is left behind."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        sys.exit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
