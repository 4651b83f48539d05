"""`roost execute`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import connect
from .echo import echo
from .failures import FAILED, INTERRUPTED, TIMED_OUT, Failure
from .options import agent_argument, connected, payload_option
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
        roost execute greeter --no-wait --idempotency-key bo-1
        """
    )
)
@agent_argument()
@payload_option
@click.option("-f", "--follow", is_flag=True, help="Show the log as it is written.")
@click.option("--no-wait", is_flag=True, help="Print the id of the ExecutorJob and leave.")
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="S", help="Wait S seconds at most."
)
@click.option(
    "--priority", type=click.IntRange(-100, 100), help="Higher ones run first; 0 by default."
)
@click.option("--concurrency-key", metavar="KEY", help="One at a time of those with the same key.")
@click.option("--idempotency-key", metavar="KEY", help="With the same key, it is run once.")
@connected
def execute(
    agent: str,
    payload: str | None,
    follow: bool,
    no_wait: bool,
    timeout: float | None,
    priority: int | None,
    concurrency_key: str | None,
    idempotency_key: str | None,
    as_json: bool,
) -> None:
    """Run an agent once, and print what it returns.

    That is JSON, indented in a terminal; nothing when it returns nothing.

    Ends with 0 when it succeeded, 1 when it failed, 124 when --timeout is over; the execution then
    goes on, as it does after Ctrl-C. With --json the ExecutorJob is printed, with its last
    Execution in it.
    """
    from .payloads import read_payload
    from .waiting import Waiting

    if no_wait and (follow or timeout is not None):
        raise click.UsageError("--no-wait goes with neither --follow nor --timeout.")
    value = read_payload(payload)
    found = connect.agent(agent)
    job = found.submit(
        value,
        priority=priority,
        concurrency_key=concurrency_key,
        idempotency_key=idempotency_key,
    )
    if no_wait:
        _print_order(job, as_json)
        return
    waiting = Waiting(job, found.name, timeout)
    try:
        if follow:
            waiting.follow()
        execution = waiting.result()
    except KeyboardInterrupt:
        raise Failure(
            f"Detached; {job.id} is still running.",
            INTERRUPTED,
            f"`roost cancel {job.id}` ends it, `roost logs -f {job.id}` follows it.",
        ) from None
    except TimeoutError:
        if as_json:
            _print_order(job, as_json)
        raise Failure(
            f"{job.id} had not ended after {timeout:g} s, and goes on ({job.state}).",
            TIMED_OUT,
            f"`roost logs -f {job.id}` follows it, `roost cancel {job.id}` ends it.",
        ) from None
    _report(job, execution, as_json, logs_shown=follow)


def _print_order(job: roost.ExecutorJob, as_json: bool) -> None:
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
        hint = "`roost builds --failed` shows which build, `roost show bjob_…` why."
    return Failure(text, FAILED, hint)
