"""`roost logs`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from . import connect
from .echo import echo
from .failures import INTERRUPTED, NOT_FOUND, Failure
from .options import connected, target_argument
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["logs"]


@click.command(
    epilog=examples(
        """
        roost logs greeter                 # its latest execution
        roost logs -f greeter              # its latest and later executions
        roost logs exec_01m8… --level ERROR
        roost logs xjob_01m8… --contains timeout --timestamps
        roost logs bjob_01m8…              # a build
        """
    )
)
@target_argument("target", "EXECUTION|JOB|AGENT")
@click.option("-f", "--follow", is_flag=True, help="Print new entries as they are written.")
@click.option(
    "--level",
    type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], case_sensitive=False),
    help="Only entries of this level.",
)
@click.option("--contains", metavar="TEXT", help="Only messages that contain this text.")
@click.option(
    "--since-seq", type=click.IntRange(min=0), metavar="N", help="Only entries after number N."
)
@click.option("-t", "--timestamps", is_flag=True, help="Begin each line with its time.")
@connected
def logs(
    target: str,
    follow: bool,
    level: str | None,
    contains: str | None,
    since_seq: int | None,
    timestamps: bool,
    as_json: bool,
) -> None:
    """Print the log of an execution or a build.

    An agent's log is that of its latest execution, with --follow also of later ones, until Ctrl-C.
    A job's log has all attempts. --json prints an array, with --follow one object per line.
    """

    wanted = _Filter(level, contains, since_seq)
    entries = (entry for entry in _entries(target, follow, wanted) if wanted.matches(entry))
    try:
        _print(entries, follow, timestamps, as_json)
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None


@dataclass(frozen=True)
class _Filter:
    """Which entries to print; filtered by the server where possible."""

    level: str | None
    contains: str | None
    after_seq: int | None

    def matches(self, entry: roost.LogEntry) -> bool:
        return (
            (self.level is None or entry.level == self.level)
            and (self.contains is None or self.contains in entry.message)
            and (self.after_seq is None or entry.seq > self.after_seq)
        )


def _print(
    entries: Iterator[roost.LogEntry], follow: bool, timestamps: bool, as_json: bool
) -> None:
    from .log_lines import LogPrinter
    from .output import data_of, print_json

    if as_json and not follow:
        print_json([data_of(entry) for entry in entries])
        return
    printer = LogPrinter(timestamps=timestamps)
    for entry in entries:
        if as_json:
            echo(json.dumps(data_of(entry)))
        else:
            printer.print(entry)
    printer.end()


def _entries(target: str, follow: bool, wanted: _Filter) -> Iterator[roost.LogEntry]:
    client, kind = connect.client(), connect.kind_of(target)
    if kind == "execution":
        return _of_execution(client.executions.retrieve(target), follow, wanted)
    if kind == "build job":
        builder_job = client.builder_jobs.retrieve(target)
        if follow:
            return builder_job.logs(follow=True, after_seq=wanted.after_seq)
        return iter(builder_job.logs(after_seq=wanted.after_seq))
    if kind == "job":
        job = client.executor_jobs.retrieve(target)
        return job.logs(follow=True) if follow else iter(job.logs())
    if kind not in (None, "agent"):
        raise Failure(
            f"A {kind} has no log.", hint="Executions, jobs, builds and agents have logs."
        )
    agent = connect.agent(target)
    if follow:
        return _following_agent(agent)
    return _of_execution(_latest(agent), follow, wanted)


def _of_execution(
    execution: roost.Execution, follow: bool, wanted: _Filter
) -> Iterator[roost.LogEntry]:
    if follow:
        return execution.logs(follow=True, after_seq=wanted.after_seq)
    return iter(
        execution.logs(after_seq=wanted.after_seq, level=wanted.level, contains=wanted.contains)
    )


def _latest(agent: roost.Agent) -> roost.Execution:
    for execution in connect.client().executions.list(agent_id=agent.id, limit=1):
        return execution
    raise Failure(
        f"{agent.name} has not run yet.",
        NOT_FOUND,
        f"`roost execute {agent.name}` runs it; "
        f"`roost logs {agent.latest_builder_job_id}` shows its build.",
    )


def _following_agent(agent: roost.Agent) -> Iterator[roost.LogEntry]:
    """Yield the entries of the agent's latest execution, then of each later one."""
    client = connect.client()
    # Subscribe first, so that no execution that starts meanwhile is missed.
    started = client.events(types="execution.running", agent_id=agent.id)
    seen: set[str] = set()
    for execution in client.executions.list(agent_id=agent.id, limit=1):
        seen.add(execution.id)
        yield from _headed(execution)
    for event in started:
        if event.subject not in seen:
            yield from _headed(client.executions.retrieve(event.subject))


def _headed(execution: roost.Execution) -> Iterator[roost.LogEntry]:
    from .progress import watched

    if watched():
        echo(click.style(f"==> {execution.id}", dim=True), err=True)
    yield from execution.logs(follow=True)
