"""Waiting for a rollout, and its progress."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import click

from .echo import echo
from .failures import FAILED, TIMED_OUT, Failure
from .output import Column, Listing, data_of, facts, heading, note, print_json, state_text
from .progress import Progress
from .times import moment

if TYPE_CHECKING:
    from rich.text import Text

    import roost

__all__ = ["agents", "describe", "outdated", "print_data", "report", "rollouts", "watch"]

_REFRESH_SECONDS = 0.5
_MOST_SHOWN = 100


def watch(rollout: roost.Rollout, wait: bool, timeout: float | None, as_json: bool) -> None:
    """Print a rollout that has started; with `wait` its outcome.

    Exits with 1 if it is paused or agents failed.
    """
    if wait:
        _wait(rollout, timeout)
    if as_json:
        print_data(rollout)
    elif wait:
        describe(rollout)
    else:
        echo(rollout.id)
        if rollout.counts.total == 0:
            note("No agent is outdated.")
        else:
            note(f"`roost rollout show {rollout.id}` shows its progress.")
    if wait and (
        rollout.state == "paused" or (rollout.counts.failed and rollout.state != "undone")
    ):
        raise click.exceptions.Exit(FAILED)


def report(rollout: roost.Rollout, as_json: bool, text: str) -> None:
    """Print a rollout as JSON, or the text to standard error."""
    if as_json:
        print_data(rollout)
    else:
        note(text)


def print_data(rollout: roost.Rollout) -> None:
    """Print a rollout as JSON."""
    print_json(data_of(rollout))


def describe(rollout: roost.Rollout) -> None:
    """Print a rollout, and the agents whose build failed."""
    counts = rollout.counts
    facts(
        [
            ("rollout", rollout.id),
            ("state", state_text(rollout.state)),
            ("message", rollout.message),
            ("started", f"{moment(rollout.created_at)}, {_trigger(rollout)}"),
            ("ended", moment(rollout.finished_at)),
            ("agents", str(counts.total)),
            *((state, str(number)) for state, number in _numbers(counts)),
        ]
    )
    if counts.failed:
        heading("failed builds")
        failed = rollout.agents(state="failed")
        agents().show(failed, as_json=False, limit=_MOST_SHOWN)


def rollouts() -> Listing[roost.Rollout]:
    """Return how rollouts are listed."""

    def row(rollout: roost.Rollout) -> tuple[str | Text, ...]:
        return (
            rollout.id,
            state_text(rollout.state),
            _progress(rollout.counts),
            _trigger(rollout),
            moment(rollout.created_at),
            moment(rollout.finished_at),
        )

    columns = (
        Column("ID", whole=True),
        Column("STATE", whole=True),
        Column("AGENTS"),
        Column("TRIGGER", whole=True, extra=True),
        Column("CREATED", whole=True),
        Column("ENDED", whole=True, extra=True),
    )
    nothing = "No rollouts match. A newer base image or SDK starts one."
    return Listing(columns, row, nothing)


def agents() -> Listing[roost.RolloutAgent]:
    """Return how the agents of a rollout are listed."""

    def row(agent: roost.RolloutAgent) -> tuple[str | Text, ...]:
        return (
            agent.agent_name,
            state_text(agent.state),
            agent.to_builder_job_id or "",
            agent.message or "",
        )

    columns = (
        Column("AGENT"),
        Column("STATE", whole=True),
        Column("BUILD JOB", extra=True),
        Column("MESSAGE"),
    )
    return Listing(columns, row, "No agents match.")


def _progress(counts: roost.RolloutCounts) -> str:
    """Return the counts that aren't zero, on one line."""
    return ", ".join(f"{number} {state}" for state, number in _numbers(counts)) or "no agents"


def outdated(agent: roost.Agent) -> list[tuple[str, str]]:
    """Return how the agent's Build differs from a Build created now."""
    old = agent.outdated
    if old is None:
        return []
    lines: list[tuple[str, str]] = []
    if "base" in old.reasons:
        lines += [("outdated", f"built on {old.base or 'an unknown base'}")]
        lines += [("", f"now {old.current_base}")]
        lines += [("", "which fixes " + _named(fix)) for fix in old.fixes]
    if "sdk" in old.reasons:
        lines += [("" if lines else "outdated", "Roost's SDK is newer")]
    return [*lines, ("", f"`roost rollout start {agent.name}` rebuilds it")]


def _named(fix: roost.Advisory) -> str:
    words = [f"({fix.severity})" if fix.severity else "", fix.summary or ""]
    return " ".join([fix.id, *filter(None, words)])


def _numbers(counts: roost.RolloutCounts) -> list[tuple[str, int]]:
    states = ("queued", "building", "updated", "failed", "skipped", "undone")
    numbers = ((state, getattr(counts, state)) for state in states)
    return [(state, number) for state, number in numbers if number]


def _trigger(rollout: roost.Rollout) -> str:
    return "automatic" if rollout.automatic else "manual"


def _wait(rollout: roost.Rollout, timeout: float | None) -> None:
    import roost

    over = threading.Event()
    with Progress() as progress:
        args = (rollout, progress, over)
        threading.Thread(target=_show, args=args, daemon=True).start()
        try:
            rollout.wait(timeout)
        except roost.APITimeout as error:
            if error.__cause__ is not None or timeout is None:
                raise
            raise Failure(
                f"{rollout.id} is still {rollout.state} after {timeout:g} s.",
                TIMED_OUT,
                f"`roost rollout show {rollout.id}` shows its progress.",
            ) from error
        finally:
            over.set()


def _show(rollout: roost.Rollout, progress: Progress, over: threading.Event) -> None:
    while not over.is_set():
        progress.say(f"{rollout.id} {rollout.state}: {_progress(rollout.counts)}")
        over.wait(_REFRESH_SECONDS)
