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
_wait_option = click.option("--wait", is_flag=True, help="Wait until it has ended or is paused.")
_timeout_option = click.option("--timeout", type=SPAN, help="Wait so long at most.")


@click.command(epilog=examples("roost rebuild greeter\nroost rebuild greeter --wait"))
@agent_argument()
@_wait_option
@_timeout_option
@connected
def rebuild(agent: str, wait: bool, timeout: float | None, as_json: bool) -> None:
    """Build an agent's dependencies again, on the current base.

    Packages that its requirements need without naming a version may be newer then. The agent uses
    the new build once it is made, and keeps the one it has if it can't be made. Prints the id of a
    rollout of this one agent: `roost rollout undo ID` brings the build of before back.
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
    """Bring outdated agents to the current base image and SDK, and watch, pause and undo that."""


@rollout.command(epilog=examples("roost rollout start\nroost rollout start greeter adder --wait"))
@click.argument("agents", metavar="[AGENT]...", nargs=-1, shell_complete=complete(agent_names))
@_wait_option
@_timeout_option
@connected
def start(agents: tuple[str, ...], wait: bool, timeout: float | None, as_json: bool) -> None:
    """Build all outdated agents again, or the outdated ones of those named.

    A few at a time; each uses its new build once it is made, and keeps the one it has if it can't
    be made. With --wait it ends with 1 when an agent could not be built, and with 124 when
    --timeout is over; the rollout then goes on.
    """
    from .rollout_watch import watch

    _check(wait, timeout)
    chosen = [connect.agent(each) for each in agents]
    watch(connect.client().rollouts.start(chosen or None), wait, timeout, as_json)


@rollout.command("list", epilog=examples("roost rollout list --state running,paused"))
@click.option("--state", type=States(get_args(RolloutState)), help="Only those in this state.")
@limit_option()
@connected
def list_(state: list[RolloutState] | None, limit: int, everything: bool, as_json: bool) -> None:
    """List rollouts, newest first, with how far they are."""
    from .rollout_watch import rollouts

    found = connect.client().rollouts.list(state=state)
    rollouts().show(found, as_json=as_json, limit=None if everything else limit)


@rollout.command(epilog=examples("roost rollout show rollout_01m8…"))
@_id_argument
@connected
def show(rollout: str, as_json: bool) -> None:
    """Show how far a rollout is, and which agents could not be built, with why."""
    from .rollout_watch import describe, print_data

    found = connect.client().rollouts.retrieve(rollout)
    if as_json:
        print_data(found)
    else:
        describe(found)


@rollout.command(epilog=examples("roost rollout agents rollout_01m8… --state failed,skipped"))
@_id_argument
@click.option("--state", type=States(get_args(RolloutAgentState)), help="Only those in this state.")
@limit_option()
@connected
def agents(
    rollout: str,
    state: list[RolloutAgentState] | None,
    limit: int,
    everything: bool,
    as_json: bool,
) -> None:
    """List the agents of a rollout, with what has become of each."""
    from . import rollout_watch

    found = connect.client().rollouts.agents(rollout, state=state)
    rollout_watch.agents().show(found, as_json=as_json, limit=None if everything else limit)


@rollout.command(epilog=examples("roost rollout pause rollout_01m8…"))
@_id_argument
@connected
def pause(rollout: str, as_json: bool) -> None:
    """Build and change nothing more. Builds that have begun end, and are used after a resume."""
    from .rollout_watch import tell

    found = connect.client().rollouts.pause(rollout)
    tell(found, as_json, f"{found.id} is paused. `roost rollout resume {found.id}` goes on.")


@rollout.command(epilog=examples("roost rollout resume rollout_01m8…"))
@_id_argument
@connected
def resume(rollout: str, as_json: bool) -> None:
    """Go on after a pause."""
    from .rollout_watch import tell

    found = connect.client().rollouts.resume(rollout)
    tell(found, as_json, f"{found.id} goes on. `roost rollout show {found.id}` says how far it is.")


@rollout.command(epilog=examples("roost rollout undo rollout_01m8… --wait"))
@_id_argument
@click.option("-y", "--yes", is_flag=True, help="Don't ask.")
@_wait_option
@_timeout_option
@connected
def undo(rollout: str, yes: bool, wait: bool, timeout: float | None, as_json: bool) -> None:
    """Have its agents use the builds of before again, except those that were deployed since.

    No rollout to the same builds begins automatically afterwards.
    """
    from .asking import confirm
    from .rollout_watch import watch

    _check(wait, timeout)
    found = connect.client().rollouts.retrieve(rollout)
    updated = found.counts.updated
    agents = "1 agent" if updated == 1 else f"{updated} agents"
    confirm(f"Undo {found.id}? {agents} then use the builds of before again.", yes)
    watch(found.undo(), wait, timeout, as_json)


def _check(wait: bool, timeout: float | None) -> None:
    if timeout is not None and not wait:
        raise click.UsageError("--timeout goes with --wait.")
