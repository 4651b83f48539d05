"""`roost execute`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import connect
from .echo import echo
from .failures import FAILED, TIMED_OUT, Failure, detach
from .options import agent_argument, connected, file_option, payload_option
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["execute"]

_WORDS = {"timed_out": "timed out", "cancelled": "was cancelled", "lost": "was lost"}


@click.command(
    epilog=examples(
        """
        roost execute greeter
        roost execute greeter --payload '{"name": "Ada"}'
        roost execute greeter --payload @people.json --follow
        echo '{"name": "Bo"}' | roost execute greeter --payload -
        roost execute greeter --saved ada
        roost execute totals --file orders=orders.csv
        roost execute writer --stream
        roost execute greeter --draft greeter.py --payload @failed.json
        roost execute greeter --no-wait --idempotency-key bo-1
        """
    )
)
@agent_argument()
@payload_option
@file_option
@click.option("--saved", metavar="NAME", help="The payload that is saved under this name.")
@click.option(
    "--draft",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Run this script instead of the agent's, without saving it.",
)
@click.option("-f", "--follow", is_flag=True, help="Show the log as it is written.")
@click.option("--stream", is_flag=True, help="Print the values that it emits as they come.")
@click.option("--no-wait", is_flag=True, help="Print the job's id without waiting.")
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="S", help="Wait at most S seconds."
)
@click.option(
    "--priority", type=click.IntRange(-100, 100), help="Higher priorities run first; 0 by default."
)
@click.option("--concurrency-key", metavar="KEY", help="Jobs with the same key run one at a time.")
@click.option("--idempotency-key", metavar="KEY", help="Requests with the same key create one job.")
@connected
def execute(
    agent: str,
    payload: str | None,
    given: tuple[str, ...],
    saved: str | None,
    draft: Path | None,
    follow: bool,
    stream: bool,
    no_wait: bool,
    timeout: float | None,
    priority: int | None,
    concurrency_key: str | None,
    idempotency_key: str | None,
    as_json: bool,
) -> None:
    """Run an agent once, and print its return value.

    The value is JSON, indented in a terminal; nothing is printed for None. With --stream, each
    value that the script emits is printed before it, one JSON text per line.

    With --draft, the packages and environment variables are those of the agent, and the run is
    left out of its figures and of issues.

    Exits with 0 on success, 1 on failure, 124 after --timeout. The job keeps running after
    --timeout and after Ctrl-C. With --json, prints the job with its last execution.
    """
    from .files import read_text
    from .payloads import named_files, read_payload
    from .saved_payloads import saved_payload
    from .stream import print_values
    from .waiting import Waiting

    if no_wait and (follow or stream or timeout is not None):
        raise click.UsageError("--no-wait can't be combined with --follow, --stream or --timeout.")
    if stream and (follow or timeout is not None or as_json):
        raise click.UsageError("--stream can't be combined with --follow, --timeout or --json.")
    if saved is not None and payload is not None:
        raise click.UsageError("--saved can't be combined with --payload.")
    files = named_files(given) or None
    value = read_payload(payload)
    found = connect.agent(agent)
    if saved is not None:
        value = saved_payload(found, saved).payload
    job = found.submit(
        value,
        files=files,
        draft=None if draft is None else read_text(draft),
        priority=priority,
        concurrency_key=concurrency_key,
        idempotency_key=idempotency_key,
    )
    if no_wait:
        _print_job(job, as_json)
        return
    waiting = Waiting(job, found.name, timeout)
    try:
        if follow:
            waiting.follow()
        if stream:
            print_values(job)
        execution = waiting.result()
    except KeyboardInterrupt:
        detach(
            f"Detached; {job.id} is still running.",
            f"`roost cancel {job.id}` cancels it, `roost logs -f {job.id}` follows its log.",
        )
    except TimeoutError:
        if as_json:
            _print_job(job, as_json)
        raise Failure(
            f"{job.id} is still {job.state} after {timeout:g} s.",
            TIMED_OUT,
            f"`roost logs -f {job.id}` follows its log, `roost cancel {job.id}` cancels it.",
        ) from None
    _report(job, execution, as_json, logs_shown=follow)


def _print_job(job: roost.ExecutorJob, as_json: bool) -> None:
    from .output import data_of, print_json

    if as_json:
        print_json(data_of(job))
    else:
        echo(job.id)


def _report(
    job: roost.ExecutorJob, execution: roost.Execution | None, as_json: bool, *, logs_shown: bool
) -> None:
    from .output import data_of, note, print_json
    from .progress import watched
    from .waiting import summary

    succeeded = execution is not None and execution.state == job.state == "succeeded"
    if as_json:
        print_json(data_of(job))
    elif succeeded:
        assert execution is not None
        if execution.return_value is not None:
            print_json(execution.return_value)
        if watched():
            note(click.style(f"✓ {summary(execution)}", fg="green", dim=True))
    if not succeeded:
        raise _failure(job, execution, logs_shown)


def _failure(
    job: roost.ExecutorJob, execution: roost.Execution | None, logs_shown: bool
) -> Failure:
    source: Any = job if execution is None else execution
    text = f"{source.id} {_WORDS.get(source.state, source.state)}"
    text += f" ({source.reason})" if source.reason and source.reason != source.state else ""
    error = None if execution is None else execution.error
    if error is not None and error.traceback:
        text += f":\n\n{error.traceback.rstrip()}\n" if not logs_shown else f": {error}"
    else:
        text += f": {source.message}" if source.message else "."
    hint = None
    if execution is not None and not logs_shown:
        hint = f"`roost logs {execution.id}` shows its log."
    if source.reason == "build_failed":
        hint = "`roost builds --failed` lists failed builds, `roost show bjob_…` explains one."
    return Failure(text, FAILED, hint)
