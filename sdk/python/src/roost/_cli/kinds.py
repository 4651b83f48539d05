"""The columns of each list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .output import Column, Listing, state_text
from .times import duration, lapse, moment, size

if TYPE_CHECKING:
    from rich.text import Text

    import roost

__all__ = [
    "agents",
    "builder_jobs",
    "builds",
    "executions",
    "files",
    "jobs",
    "keys",
    "revisions",
    "schedules",
    "steps",
    "stores",
    "webhooks",
    "channels",
    "messages",
    "saved_payloads",
]

_ID = Column("ID", whole=True)
_NAME = Column("NAME")
_AGENT = Column("AGENT")
_STATE = Column("STATE", whole=True)
_CREATED = Column("CREATED", whole=True)

Names = Mapping[str, str]
Row = Sequence["str | Text"]


def _never(activity: roost.Activity | None) -> str:
    return "" if activity is None else "never"


def _reason(agent: roost.Agent, build: roost.LatestBuilderJob) -> str | None:
    """Return why the newest revision isn't built, what runs instead, and if that is outdated."""
    behind = agent.running_revision not in (None, agent.revision)
    words = (
        build.reason,
        f"revision {agent.running_revision} runs" if behind else None,
        "outdated" if agent.outdated else None,
    )
    return "; ".join(filter(None, words)) or None


def agents() -> Listing[roost.Agent]:
    """Return how agents are listed, with what they are doing."""

    def row(agent: roost.Agent) -> Row:
        activity = agent.activity
        build = last = None
        if activity is not None:
            build, last = activity.builder_job, activity.last_execution
        ended = last and (last.finished_at or last.started_at)
        return (
            agent.name,
            agent.python_version,
            ", ".join(agent.tags or ()),
            state_text(build.state, _reason(agent, build)) if build else "",
            state_text(last.state, last.reason) if last else _never(activity),
            moment(ended) if ended else "",
            moment(activity.next_run_at) if activity else "",
            agent.id,
        )

    columns = (
        _NAME,
        Column("PYTHON", whole=True, extra=True),
        Column("TAGS", extra=True),
        Column("BUILD"),
        Column("LAST RUN"),
        Column("WHEN", whole=True),
        Column("NEXT RUN", whole=True, extra=True),
        _ID,
    )
    return Listing(columns, row, "There are no agents yet. `roost deploy FILE` creates one.")


def _agent(names: Names, run: roost.Execution | roost.ExecutorJob) -> str:
    name = names.get(run.agent_id, run.agent_id)
    return f"{name} (draft)" if run.draft else name


def executions(names: Names) -> Listing[roost.Execution]:
    """Return how executions are listed; `names` are the agents' names by id."""

    def row(execution: roost.Execution) -> Row:
        return (
            execution.id,
            _agent(names, execution),
            state_text(execution.state, execution.reason),
            moment(execution.started_at),
            lapse(execution.started_at, execution.finished_at),
        )

    columns = (
        _ID,
        _AGENT,
        Column("STATE"),
        Column("STARTED", whole=True),
        Column("TOOK", whole=True, right=True),
    )
    return Listing(columns, row, "No executions match. `roost execute AGENT` runs an agent.")


def jobs(names: Names) -> Listing[roost.ExecutorJob]:
    """Return how ExecutorJobs are listed."""

    def row(job: roost.ExecutorJob) -> Row:
        waiting = f"waiting on {job.waiting_on}" if job.waiting_on else None
        return (
            job.id,
            _agent(names, job),
            state_text(job.state, job.reason or waiting),
            str(job.attempts),
            moment(job.created_at),
        )

    columns = (
        _ID,
        _AGENT,
        Column("STATE"),
        Column("ATTEMPTS", whole=True, right=True),
        _CREATED,
    )
    return Listing(columns, row, "No jobs match. `roost execute AGENT` submits one.")


def builder_jobs(names: Names) -> Listing[roost.BuilderJob]:
    """Return how BuilderJobs are listed."""

    def row(job: roost.BuilderJob) -> Row:
        return (
            job.id,
            names.get(job.agent_id, job.agent_id),
            state_text(job.state, "reused" if job.reused else job.reason),
            moment(job.created_at),
            lapse(job.started_at, job.finished_at),
            job.message or "",
        )

    columns = (
        _ID,
        _AGENT,
        Column("STATE", whole=True),
        _CREATED,
        Column("TOOK", whole=True, right=True),
        Column("MESSAGE"),
    )
    return Listing(columns, row, "No builds match. `roost deploy FILE` creates one.")


def builds() -> Listing[roost.Build]:
    """Return how Builds are listed."""

    def row(build: roost.Build) -> Row:
        return (
            build.id,
            build.python_version,
            str(len(build.packages or ())),
            size(build.size_bytes),
            duration(build.duration),
            moment(build.created_at),
        )

    columns = (
        _ID,
        Column("PYTHON", whole=True),
        Column("PACKAGES", whole=True, right=True),
        Column("SIZE", whole=True, right=True),
        Column("TOOK", whole=True, right=True),
        _CREATED,
    )
    return Listing(columns, row, "There are no builds yet. `roost deploy FILE` creates one.")


def schedules(names: Names) -> Listing[roost.Schedule]:
    """Return how schedules are listed."""

    def row(schedule: roost.Schedule) -> Row:
        last = schedule.last_run
        return (
            schedule.id,
            names.get(schedule.agent_id, schedule.agent_id),
            schedule.name or "",
            schedule.cron,
            schedule.time_zone,
            state_text(schedule.state),
            moment(schedule.next_run_at),
            state_text(last.state) if last else "",
        )

    columns = (
        _ID,
        _AGENT,
        Column("NAME", extra=True),
        Column("CRON", whole=True),
        Column("TIME ZONE", extra=True),
        _STATE,
        Column("NEXT RUN", whole=True),
        Column("LAST RUN", extra=True),
    )
    nothing = 'There are no schedules. `roost schedule AGENT "0 7 * * *"` creates one.'
    return Listing(columns, row, nothing)


def stores() -> Listing[roost.DataStore]:
    """Return how DataStores are listed."""

    def row(store: roost.DataStore) -> Row:
        return (
            store.name,
            f"{store.entries:,}",
            size(store.size_bytes),
            str(len(store.agent_ids or ())),
            moment(store.updated_at),
            store.id,
        )

    columns = (
        _NAME,
        Column("ENTRIES", whole=True, right=True),
        Column("SIZE", whole=True, right=True),
        Column("AGENTS", whole=True, right=True, extra=True),
        Column("CHANGED", whole=True),
        _ID,
    )
    return Listing(columns, row, "There are no stores. `roost store create NAME` creates one.")


def webhooks() -> Listing[roost.Webhook]:
    """Return how webhooks are listed."""

    def row(webhook: roost.Webhook) -> Row:
        types = ", ".join(webhook.event_types or ()) or "all"
        return (webhook.id, state_text(webhook.state), types, webhook.url)

    columns = (_ID, _STATE, Column("EVENTS"), Column("URL"))
    return Listing(columns, row, "There are no webhooks.")


def channels() -> Listing[roost.NotificationChannel]:
    """Return how notification channels are listed."""

    def row(channel: roost.NotificationChannel) -> Row:
        latest = channel.latest_message
        to = ", ".join(channel.recipients) or channel.url or ""
        result = "" if latest is None else latest.error or latest.state
        return (channel.id, channel.name, state_text(channel.state), to, result)

    columns = (_ID, _NAME, _STATE, Column("TO"), Column("LATEST"))
    return Listing(
        columns, row, "There are no channels. `roost notifications create NAME` creates one."
    )


def saved_payloads(agent: roost.Agent) -> Listing[roost.SavedPayload]:
    """Return how saved payloads are listed."""

    def row(saved: roost.SavedPayload) -> Row:
        return (saved.name, size(saved.size_bytes), moment(saved.updated_at))

    columns = (Column("NAME", whole=True), Column("SIZE"), Column("SAVED"))
    return Listing(
        columns,
        row,
        f"{agent.name} has no saved payloads. `roost payloads save {agent.name} NAME` saves one.",
    )


def files(job: roost.ExecutorJob) -> Listing[roost.JobFile]:
    """Return how the files of a job are listed."""
    columns = (
        Column("KIND", whole=True),
        _NAME,
        Column("FILE"),
        Column("TYPE", extra=True),
        Column("SIZE", right=True),
        _ID,
    )
    return Listing(
        columns,
        lambda each: (
            each.kind,
            each.name,
            each.file.name,
            each.file.content_type,
            size(each.file.size_bytes),
            each.file.id,
        ),
        f"{job.id} has no files.",
        "first",
    )


def steps(job: roost.ExecutorJob) -> Listing[roost.Step]:
    """Return how the durable steps of a job are listed."""

    def row(step: roost.Step) -> Row:
        return (
            step.path,
            step.name,
            state_text(step.state),
            str(step.attempts),
            duration(step.duration),
            moment(step.until if step.state == "waiting" else step.finished_at),
            str(step.error or "").partition("\n")[0],
        )

    columns = (
        Column("STEP", whole=True),
        _NAME,
        _STATE,
        Column("CALLS", right=True, extra=True),
        Column("DURATION", whole=True, right=True),
        Column("ENDED", whole=True, extra=True),
        Column("ERROR", extra=True),
    )
    nothing = f"{job.id} has no steps: its script hasn't called request.step."
    return Listing(columns, row, nothing)


def approvals(names: Names) -> Listing[roost.Approval]:
    """Return how approvals are listed."""

    def row(approval: roost.Approval) -> Row:
        return (
            approval.id,
            approval.title,
            names.get(approval.agent_id, approval.agent_id),
            state_text(approval.state),
            ", ".join(approval.assignees),
            moment(approval.created_at),
            "" if approval.expires_at is None else moment(approval.expires_at),
        )

    columns = (
        _ID,
        Column("TITLE"),
        Column("AGENT"),
        _STATE,
        Column("ASSIGNEES", extra=True),
        Column("ASKED", whole=True, extra=True),
        Column("EXPIRES", whole=True),
    )
    return Listing(columns, row, "No approvals.")


def messages() -> Listing[roost.NotificationMessage]:
    """Return how messages of notification channels are listed."""

    def row(message: roost.NotificationMessage) -> Row:
        title = "Test" if message.test else message.title
        created = moment(message.created_at)
        return (message.id, created, state_text(message.state), title, message.error or "")

    columns = (_ID, _CREATED, _STATE, Column("SUBJECT"), Column("ERROR"))
    return Listing(columns, row, "There are no messages.")


def keys() -> Listing[roost.Key]:
    """Return how API keys are listed."""

    def row(key: roost.Key) -> Row:
        return (key.id, key.name, key.role, moment(key.created_at))

    columns = (_ID, _NAME, Column("ROLE", whole=True), _CREATED)
    return Listing(columns, row, "There are no keys.")


def revisions(agent: roost.Agent) -> Listing[roost.AgentRevision]:
    """Return how an agent's revisions are listed."""
    failure = agent.build_failure
    words = {failure.revision: " (not built)"} if failure else {}
    if agent.building_revision is not None:
        words[agent.building_revision] = " (building)"
    words.setdefault(agent.running_revision or agent.revision, " (now)")

    def row(revision: roost.AgentRevision) -> Row:
        lines = [line for line in revision.requirements.splitlines() if line.strip()]
        return (
            str(revision.revision) + words.get(revision.revision, ""),
            moment(revision.created_at),
            revision.python_version,
            str(len(revision.script.splitlines())),
            ", ".join(lines) or "none",
        )

    columns = (
        Column("REVISION", whole=True),
        _CREATED,
        Column("PYTHON", whole=True),
        Column("LINES", whole=True, right=True),
        Column("REQUIREMENTS"),
    )
    return Listing(columns, row, "There are no revisions.")
