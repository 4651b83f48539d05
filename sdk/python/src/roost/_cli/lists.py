"""`roost list`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import TypeVar, get_args

import click

from .._sorts import AgentSort, ExecutionSort
from .._states import BuilderJobState, ExecutionState, ExecutorJobState
from . import connect
from .groups import Group
from .options import agent_option, connected, limit_option, tag_option, values_option
from .spans import TIME
from .states import States
from .texts import examples

__all__ = ["list_"]

T = TypeVar("T")

_EXECUTION_STATES = list(get_args(ExecutionState))
_AGENT_SORTS = list(get_args(AgentSort))
_EXECUTION_SORTS = list(get_args(ExecutionSort))
_JOB_STATES = list(get_args(ExecutorJobState))


@click.group(
    "list",
    cls=Group,
    epilog=examples(
        """
        roost list agents
        roost list executions --agent greeter --state failed,timed_out --since 24h
        roost list jobs --state queued --json
        """
    ),
)
def list_() -> None:
    """List agents, executions and other resources, newest first."""


@list_.command(
    epilog=examples("roost list agents -q greet\nroost list agents --tag billing --sort -failures")
)
@click.option(
    "-q", "--query", metavar="TEXT", help="Only names with these words; bill* begins a word."
)
@tag_option
@click.option(
    "--sort",
    type=click.Choice(_AGENT_SORTS),
    metavar="KEY",
    help="By name, last_execution, failures or created; -name is descending.",
)
@limit_option()
@values_option
@connected
def agents(
    query: str | None,
    tag: Sequence[str],
    sort: AgentSort | None,
    limit: int,
    everything: bool,
    values: bool,
    as_json: bool,
) -> None:
    """List agents, with their builds and last runs."""
    from . import kinds

    found = connect.client().agents.list(q=query, tag=tag or None, sort=sort, include_activity=True)
    most = None if everything else limit
    kinds.agents().show(found, as_json=as_json, limit=most, values=values)


@list_.command(
    epilog=examples(
        """
        roost list executions --agent greeter
        roost list executions --state failed,timed_out,lost --since 24h
        roost list executions --reason out_of_memory --json
        """
    )
)
@agent_option
@click.option("--state", type=States(_EXECUTION_STATES), help="Only these states.")
@click.option("--reason", metavar="REASON", help="Only failures with this reason.")
@click.option("--schedule", metavar="ID", help="Only runs of this schedule.")
@click.option("--issue", metavar="ID", help="Only failures of this issue.")
@click.option("--job", metavar="ID", help="Only attempts of this job.")
@click.option("--drafts/--no-drafts", "draft", default=None, help="Only drafts, or none.")
@tag_option
@click.option("--since", type=TIME, help="Only executions that started at or after this time.")
@click.option("--until", type=TIME, help="Only executions that started before this time.")
@click.option(
    "--sort",
    type=click.Choice(_EXECUTION_SORTS),
    metavar="KEY",
    help="By started or duration; -duration is descending.",
)
@limit_option()
@connected
def executions(
    agent: str | None,
    state: list[ExecutionState] | None,
    reason: str | None,
    schedule: str | None,
    issue: str | None,
    job: str | None,
    draft: bool | None,
    tag: Sequence[str],
    since: datetime | None,
    until: datetime | None,
    sort: ExecutionSort | None,
    limit: int,
    everything: bool,
    as_json: bool,
) -> None:
    """List executions and their results.

    --since and --until take a time, such as 2026-12-24T18:00, or an age, such as 90min, 24h or 7d.
    """
    from . import kinds

    found = connect.client().executions.list(
        agent_id=_agent_id(agent),
        state=state,
        reason=reason,
        schedule_id=schedule,
        issue_id=issue,
        draft=draft,
        tag=tag or None,
        executor_job_id=job,
        started_after=since,
        started_before=until,
        sort=sort,
    )
    some, names = _with_names(found, limit, everything, as_json)
    kinds.executions(names).show(some, as_json=as_json, limit=None if everything else limit)


@list_.command(
    epilog=examples(
        "roost list jobs --agent greeter --state queued,running\nroost list jobs --batch xjob_01m8…"
    )
)
@agent_option
@click.option("--state", type=States(_JOB_STATES), help="Only these states.")
@click.option("--reason", metavar="REASON", help="Only failures with this reason.")
@click.option("--schedule", metavar="ID", help="Only runs of this schedule.")
@click.option("--batch", metavar="ID", help="Only jobs of this batch.")
@click.option("--parent", metavar="JOB", help="Only jobs that the script of this job has called.")
@click.option("--drafts/--no-drafts", "draft", default=None, help="Only drafts, or none.")
@tag_option
@limit_option()
@connected
def jobs(
    agent: str | None,
    state: list[ExecutorJobState] | None,
    reason: str | None,
    schedule: str | None,
    batch: str | None,
    parent: str | None,
    draft: bool | None,
    tag: Sequence[str],
    limit: int,
    everything: bool,
    as_json: bool,
) -> None:
    """List jobs, including queued ones."""
    from . import kinds

    found = connect.client().executor_jobs.list(
        agent_id=_agent_id(agent),
        state=state,
        reason=reason,
        schedule_id=schedule,
        batch_id=batch,
        parent_id=parent,
        draft=draft,
        tag=tag or None,
    )
    some, names = _with_names(found, limit, everything, as_json)
    kinds.jobs(names).show(some, as_json=as_json, limit=None if everything else limit)


@list_.command(epilog=examples("roost list builds\nroost list builds --agent greeter"))
@agent_option
@limit_option()
@connected
def builds(agent: str | None, limit: int, everything: bool, as_json: bool) -> None:
    """List successful builds; `roost builds` lists every attempt."""
    from . import kinds

    found = connect.client().builds.list(agent_id=_agent_id(agent))
    kinds.builds().show(found, as_json=as_json, limit=None if everything else limit)


@list_.command(epilog=examples("roost list schedules --agent greeter"))
@agent_option
@limit_option()
@connected
def schedules(agent: str | None, limit: int, everything: bool, as_json: bool) -> None:
    """List schedules and their next runs."""
    show_schedules(agent, limit, everything, as_json)


@list_.command(epilog=examples("roost list stores"))
@limit_option()
@connected
def stores(limit: int, everything: bool, as_json: bool) -> None:
    """List stores and their sizes."""
    show_stores(limit, everything, as_json)


@list_.command(epilog=examples("roost list webhooks"))
@limit_option()
@connected
def webhooks(limit: int, everything: bool, as_json: bool) -> None:
    """List webhooks."""
    from . import kinds

    found = connect.client().webhooks.list()
    kinds.webhooks().show(found, as_json=as_json, limit=None if everything else limit)


@list_.command(epilog=examples("roost list keys"))
@limit_option()
@connected
def keys(limit: int, everything: bool, as_json: bool) -> None:
    """List API keys, without the keys themselves."""
    show_keys(limit, everything, as_json)


def show_schedules(agent: str | None, limit: int, everything: bool, as_json: bool) -> None:
    """Print the schedules of one agent or of all agents."""
    from . import kinds

    found = connect.client().schedules.list(agent_id=_agent_id(agent))
    some, names = _with_names(found, limit, everything, as_json)
    kinds.schedules(names).show(some, as_json=as_json, limit=None if everything else limit)


def show_stores(limit: int, everything: bool, as_json: bool) -> None:
    """Print the stores."""
    from . import kinds

    found = connect.client().datastores.list()
    kinds.stores().show(found, as_json=as_json, limit=None if everything else limit)


def show_keys(limit: int, everything: bool, as_json: bool) -> None:
    """Print the keys."""
    from . import kinds

    found = connect.client().keys.list()
    kinds.keys().show(found, as_json=as_json, limit=None if everything else limit)


def show_builder_jobs(
    agent: str | None,
    state: list[BuilderJobState] | None,
    limit: int,
    everything: bool,
    as_json: bool,
) -> None:
    """Print the build jobs of one agent or of all agents."""
    from . import kinds

    found = connect.client().builder_jobs.list(agent_id=_agent_id(agent), state=state)
    some, names = _with_names(found, limit, everything, as_json)
    kinds.builder_jobs(names).show(some, as_json=as_json, limit=None if everything else limit)


def _agent_id(agent: str | None) -> str | None:
    return None if agent is None else connect.agent(agent).id


def _with_names(
    found: Iterable[T], limit: int, everything: bool, as_json: bool
) -> tuple[list[T], dict[str, str]]:
    """Return up to `limit` items and one more, and their agents' names, which JSON omits."""
    some = list(found if everything else islice(found, limit + 1))
    if as_json:
        return some, {}
    return some, connect.agent_names(each.agent_id for each in some)  # type: ignore[attr-defined]
