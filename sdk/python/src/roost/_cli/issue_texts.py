"""How issues and replays are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from . import connect
from .echo import echo
from .output import Column, Listing, data_of, facts, heading, note, print_json, state_text
from .times import moment

if TYPE_CHECKING:
    from rich.text import Text

    import roost

__all__ = ["describe", "listing", "preview_text", "report", "report_replay"]

_MOST_REVISIONS = 10


def listing(names: Mapping[str, str]) -> Listing[roost.Issue]:
    """Return how issues are listed; `names` are those of the agents."""

    def row(issue: roost.Issue) -> Sequence[str | Text]:
        return (
            issue.title,
            names.get(issue.agent_id, issue.agent_id),
            _state(issue),
            f"{issue.count:,}",
            moment(issue.first_seen_at),
            moment(issue.last_seen_at),
            issue.id,
        )

    columns = (
        Column("ISSUE"),
        Column("AGENT"),
        Column("STATE", whole=True),
        Column("COUNT", right=True, whole=True),
        Column("FIRST SEEN", whole=True, extra=True),
        Column("LAST SEEN", whole=True),
        Column("ID", whole=True),
    )
    return Listing(columns, row, "No issues.")


def _state(issue: roost.Issue) -> Text:
    return state_text(issue.state, "regressed" if issue.regressed else None)


def describe(issue: roost.Issue) -> None:
    """Print an issue, its revisions, and the traceback of its latest failure."""
    name = connect.agent_names([issue.agent_id])[issue.agent_id]
    last = connect.client().executions.retrieve(issue.last_execution_id)
    facts(
        [
            ("issue", issue.title),
            ("id", issue.id),
            ("state", _state(issue)),
            ("agent", name),
            ("", issue.agent_id),
            ("reason", issue.reason),
            ("where", None if issue.culprit is None else str(issue.culprit)),
            ("failures", f"{issue.count:,}"),
            ("first seen", moment(issue.first_seen_at)),
            ("", f"in revision {issue.first_revision}, which introduced it"),
            ("last seen", moment(issue.last_seen_at)),
            ("", f"{last.id}; `roost logs {last.id}`"),
            ("revisions", _revisions(issue)),
        ]
    )
    if last.error is not None and last.error.traceback:
        heading("latest error")
        echo(last.error.traceback.rstrip())


def _revisions(issue: roost.Issue) -> str:
    found = issue.revisions or []
    lines = [f"{each.revision}: {each.count:,} failed" for each in found[:_MOST_REVISIONS]]
    more = len(found) - len(lines)
    return "\n".join([*lines, *([f"and {more} more"] if more else [])])


def report(issue: roost.Issue, as_json: bool, text: str) -> None:
    """Print an issue as JSON, or the text to standard error."""
    if as_json:
        print_json(data_of(issue))
    else:
        note(text)


def preview_text(replay: roost.Replay) -> str:
    """Return what a replay would do, as a sentence."""
    left_out = ", ".join(
        f"{count:,} {word}"
        for count, word in (
            (replay.succeeded, "succeeded since"),
            (replay.pending, "queued or running"),
            (replay.cancelled, "cancelled"),
        )
        if count
    )
    jobs = "1 job" if replay.count == 1 else f"{replay.count:,} jobs"
    return f"{jobs} to run again" + (f"; left out: {left_out}" if left_out else "") + "."


def report_replay(replay: roost.Replay, as_json: bool) -> None:
    """Print the ids of the new jobs, and what was left out to standard error."""
    if as_json:
        print_json(data_of(replay))
        return
    for job in replay.jobs:
        echo(job.replayed_as or job.executor_job_id)
    if replay.preview or not replay.count:
        note(preview_text(replay))
    else:
        note(f"Batch {replay.batch_id}: `roost list jobs --batch {replay.batch_id}` lists it.")
    if replay.more:
        note("More jobs remain. Repeat the command for the next ones.")
