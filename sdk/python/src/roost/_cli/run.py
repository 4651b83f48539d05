"""`roost run`: run an agent on this machine, without a server."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click

from .._run.defaults import TIMEOUT_SECONDS
from .failures import FAILED, INTERRUPTED, TIMED_OUT, USAGE, Failure
from .options import file_option, json_option, payload_option
from .texts import examples

if TYPE_CHECKING:
    from .._run.file_watch import FileWatch
    from .._run.local_run import Execution, LocalRun
    from .project import AgentFile
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
        roost run totals.py --file orders=orders.csv
        roost run greeter.py --env-file .env --store people > result.json
        roost run . --agent greeter                     # from a roost.toml
        roost run reports                               # a directory with a pyproject.toml
        """
    )
)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--agent", metavar="NAME", help="The agent of a roost.toml with several.")
@payload_option
@file_option
@click.option(
    "--artifacts",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The directory for the script's artifacts.  [default: .roost/artifacts beside the script]",
)
@click.option("--watch", is_flag=True, help="Run again when a file changes.")
@click.option("--env", multiple=True, metavar="KEY=VALUE", help="Set an environment variable.")
@click.option(
    "--env-file", type=click.Path(path_type=Path), metavar="FILE", help="A file of KEY=VALUE lines."
)
@click.option(
    "-r",
    "--requirements",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file of requirements, one per line; overrides the header.",
)
@click.option(
    "--upgrade",
    is_flag=True,
    help="Get the newest versions of requirements that allow several.",
)
@click.option("--python", metavar="VERSION", help="The Python version, such as 3.13.")
@click.option("--store", "stores", multiple=True, metavar="NAME", help="A store for the agent.")
@click.option(
    "--store-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The directory of the stores.  [default: .roost beside the script]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    help=f"Time limit of the script.  [default: the agent's, else {TIMEOUT_SECONDS:g}]",
)
@json_option
def run(watch: bool, as_json: bool, **options: Any) -> None:
    """Run an agent here, without a server.

    FILE is a script, a roost.toml or pyproject.toml, or the directory of one. A project runs from a
    copy of the files that `roost deploy` would send. The executor, the limits and the results are
    the same as on a server. Log lines go to standard error, the return value to standard output;
    with --json, the execution with its logs. Ctrl-C cancels.

    Stores are kept in a file beside the script, and shared by all runs there. These require a
    server, and are ignored here: schedules, webhooks, events, retries (max_attempts), queues
    (max_concurrency, priority), requests_per_process, cpu, and isolation "pod".
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
    """A run was stopped because files changed."""

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__(*paths)
        self.paths = paths


def _watch(options: Options, output: RunOutput) -> NoReturn:
    """Run after every change, until Ctrl-C."""
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
            output.note(f"{execution.seconds:.2f} s. Waiting for changes; Ctrl-C quits.")
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
            if plan.agent.directory is not None:
                watch.add_project(plan.agent.directory, partial(_sources, plan.agent))
        environment = _environment(plan, options.upgrade)
        stores, job = Stores(plan.stores_file), plan.job
        run = LocalRun(
            job,
            environment,
            stores,
            output.entries,
            output.values,
            plan.artifacts,
            lambda path: output.note(f"artifact: {path}"),
        )
        with contextlib.closing(stores), run as running:
            return _followed(running, output, watch)
    except BuildFailed as error:
        return Execution.not_built(error.message)
    except ProjectError as error:
        raise Failure(str(error), USAGE) from None
    except CannotRun as error:
        raise Failure(str(error), FAILED) from None


def _sources(agent: AgentFile) -> list[Path]:
    """Return the files of a project; none while they can't be selected, which the next run says."""
    from .mistakes import ProjectError
    from .project_files import selected

    assert agent.directory is not None
    try:
        return [agent.directory / file.path for file in selected(agent)]
    except ProjectError:
        return []


def _environment(plan: Plan, upgrade: bool) -> Path:
    """Return the environment with the agent's packages, created if missing."""
    from .._run import builds, interpreters
    from .locking import locked_here
    from .progress import Progress

    uv = builds.find_uv(os.environ)
    if uv is None:
        with Progress() as progress:
            progress.say("Downloading uv, which installs packages")
            uv = builds.fetch_uv(os.environ)
    requirements = locked_here(plan.agent, plan.python_version, upgrade)
    interpreter = interpreters.find(plan.python_version, uv, os.environ)
    place = builds.place_of(interpreter, requirements, os.environ)
    if not builds.is_built(place):
        with Progress() as progress:
            count = len(requirements)
            packages = f"{count} package{'' if count == 1 else 's'}"
            progress.say(f"Installing {packages} for Python {interpreter.version}")
            builds.build(place, interpreter, requirements, uv, os.environ, progress.log)
    return place


def _followed(running: LocalRun, output: RunOutput, watch: FileWatch | None) -> Execution:
    """Wait for the end. The first Ctrl-C cancels, the second one kills."""
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
            output.note(
                "Cancelling: SIGTERM was sent to the script. Press Ctrl-C again to kill it."
            )
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
    """On SIGTERM, exit with cleanup, so that no process or file is left behind."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        sys.exit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
