"""`roost rollout` and `roost rebuild`."""

from __future__ import annotations

from typing import get_args

import click

from .._states import RolloutAgentState, RolloutState
from . import connect
from .groups import Group
from .options import agent_argument, agent_names, complete, connected, limit_option
from .spans import SPAN
from .states import States
from .texts import examples

__all__ = ["rebuild", "rollout"]

_id_argument = click.argument("rollout", metavar="ID")
_wait_option = click.option(
    "--wait", is_flag=True, help="Wait until the rollout has ended or is paused."
)
_timeout_option = click.option("--timeout", type=SPAN, help="Maximum time to wait.")


@click.command(epilog=examples("roost rebuild greeter\nroost rebuild greeter --wait"))
@agent_argument()
@_wait_option
@_timeout_option
@connected
def rebuild(agent: str, wait: bool, timeout: float | None, as_json: bool) -> None:
    """Rebuild an agent's dependencies on the current base.

    Indirect dependencies may become newer. The agent uses the new build when it succeeds, and
    keeps its current build otherwise. Prints the id of a rollout of this one agent; `roost rollout
    undo ID` restores the previous build.
    """
    from .rollout_watch import watch

    _check(wait, timeout)
    watch(connect.agent(agent).rebuild(), wait, timeout, as_json)


@click.group(
    cls=Group,
    epilog=examples(
        """
        roost rollout start --wait
        roost rollout list
        roost rollout show rollout_01m8…
        roost rollout undo rollout_01m8…
        """
    ),
)
def rollout() -> None:
    """Update outdated agents to the current base image and SDK; pause, resume and undo that."""


@rollout.command(epilog=examples("roost rollout start\nroost rollout start greeter adder --wait"))
@click.argument("agents", metavar="[AGENT]...", nargs=-1, shell_complete=complete(agent_names))
@_wait_option
@_timeout_option
@connected
def start(agents: tuple[str, ...], wait: bool, timeout: float | None, as_json: bool) -> None:
    """Rebuild all outdated agents, or the outdated ones of the given agents.

    A few at a time. Each agent uses its new build when it succeeds, and keeps its current build
    otherwise. With --wait, exits with 1 if a build failed, and with 124 after --timeout; the
    rollout then continues.
    """
    from .rollout_watch import watch

    _check(wait, timeout)
    chosen = [connect.agent(each) for each in agents]
    watch(connect.client().rollouts.start(chosen or None), wait, timeout, as_json)


@rollout.command("list", epilog=examples("roost rollout list --state running,paused"))
@click.option("--state", type=States(get_args(RolloutState)), help="Only these states.")
@limit_option()
@connected
def list_(state: list[RolloutState] | None, limit: int, everything: bool, as_json: bool) -> None:
    """List rollouts and their progress, newest first."""
    from .rollout_watch import rollouts

    found = connect.client().rollouts.list(state=state)
    rollouts().show(found, as_json=as_json, limit=None if everything else limit)


@rollout.command(epilog=examples("roost rollout show rollout_01m8…"))
@_id_argument
@connected
def show(rollout: str, as_json: bool) -> None:
    """Show a rollout's progress and failed builds."""
    from .rollout_watch import describe, print_data

    found = connect.client().rollouts.retrieve(rollout)
    if as_json:
        print_data(found)
    else:
        describe(found)


@rollout.command(epilog=examples("roost rollout agents rollout_01m8… --state failed,skipped"))
@_id_argument
@click.option("--state", type=States(get_args(RolloutAgentState)), help="Only these states.")
@limit_option()
@connected
def agents(
    rollout: str,
    state: list[RolloutAgentState] | None,
    limit: int,
    everything: bool,
    as_json: bool,
) -> None:
    """List the agents of a rollout and their states."""
    from . import rollout_watch

    found = connect.client().rollouts.agents(rollout, state=state)
    rollout_watch.agents().show(found, as_json=as_json, limit=None if everything else limit)


@rollout.command(epilog=examples("roost rollout pause rollout_01m8…"))
@_id_argument
@connected
def pause(rollout: str, as_json: bool) -> None:
    """Pause a rollout. Running builds finish, and are used after a resume."""
    from .rollout_watch import report

    found = connect.client().rollouts.pause(rollout)
    report(found, as_json, f"{found.id} is paused. `roost rollout resume {found.id}` resumes it.")


@rollout.command(epilog=examples("roost rollout resume rollout_01m8…"))
@_id_argument
@connected
def resume(rollout: str, as_json: bool) -> None:
    """Resume a paused rollout."""
    from .rollout_watch import report

    found = connect.client().rollouts.resume(rollout)
    report(
        found,
        as_json,
        f"{found.id} is running. `roost rollout show {found.id}` shows its progress.",
    )


@rollout.command(epilog=examples("roost rollout undo rollout_01m8… --wait"))
@_id_argument
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation.")
@_wait_option
@_timeout_option
@connected
def undo(rollout: str, yes: bool, wait: bool, timeout: float | None, as_json: bool) -> None:
    """Restore the previous builds of a rollout's agents, except agents deployed since.

    No rollout to the same builds starts automatically afterwards.
    """
    from .asking import confirm
    from .rollout_watch import watch

    _check(wait, timeout)
    found = connect.client().rollouts.retrieve(rollout)
    updated = found.counts.updated
    agents = "1 agent" if updated == 1 else f"{updated} agents"
    confirm(f"Undo {found.id}? This restores the previous builds of {agents}.", yes)
    watch(found.undo(), wait, timeout, as_json)


def _check(wait: bool, timeout: float | None) -> None:
    if timeout is not None and not wait:
        raise click.UsageError("--timeout requires --wait.")
