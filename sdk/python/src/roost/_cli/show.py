"""`roost show`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Callable

import click

from . import connect
from .echo import echo
from .failures import Failure
from .options import connected, target_argument, values_option
from .texts import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    import roost

__all__ = ["show"]

_MOST_PACKAGES = 10
_MOST_LEFT_OUT = 10


@click.command(
    epilog=examples("roost show greeter\nroost show exec_01m8…\nroost show bjob_01m8… --json")
)
@target_argument("target", "ID|AGENT")
@values_option
@connected
def show(target: str, values: bool, as_json: bool) -> None:
    """Show an agent, an execution, a job, a build, a schedule, a store or another resource.

    Any text that isn't an id is an agent's name.
    """
    from .issue_texts import describe as describe_issue
    from .output import print_json, shown_data
    from .rollout_watch import describe as describe_rollout

    kind = connect.kind_of(target)
    client = connect.client()
    kinds: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
        "execution": (lambda: client.executions.retrieve(target), _execution),
        "issue": (lambda: client.issues.retrieve(target), describe_issue),
        "job": (lambda: client.executor_jobs.retrieve(target), _job),
        "build job": (lambda: client.builder_jobs.retrieve(target), _builder_job),
        "build": (lambda: client.builds.retrieve(target), _build),
        "rollout": (lambda: client.rollouts.retrieve(target), describe_rollout),
        "schedule": (lambda: client.schedules.retrieve(target), _schedule),
        "webhook": (lambda: client.webhooks.retrieve(target), _webhook),
        "store": (lambda: connect.store(target), _store),
    }
    if kind == "key":
        raise Failure("A key has no details.", hint="`roost keys list` lists them.")
    retrieve, describe = kinds.get(kind or "", (lambda: _retrieved_agent(target), _agent))
    thing = retrieve()
    if as_json:
        print_json(shown_data(thing, values=values))
    else:
        describe(thing)


def _retrieved_agent(target: str) -> roost.Agent:
    found = connect.agent(target)
    return connect.client().agents.retrieve(found.id, include_activity=True)


def _agent(agent: roost.Agent) -> None:
    from .output import facts, heading, state_text
    from .rollout_watch import outdated
    from .times import duration, moment

    activity = agent.activity
    build = last = None
    if activity is not None:
        build, last = activity.builder_job, activity.last_execution
    counts = activity.executions_7d if activity else None
    never = None if activity is None else "never"
    names = list(agent.env_vars or {})
    facts(
        [
            ("agent", agent.name),
            ("id", agent.id),
            ("revision", f"{agent.revision}, changed {moment(agent.updated_at)}"),
            ("", _behind(agent)),
            ("Python", agent.python_version),
            ("build", state_text(build.state, build.reason) if build else None),
            ("", agent.latest_builder_job_id),
            *outdated(agent),
            ("last run", state_text(last.state, last.reason) if last else never),
            ("", f"{last.id}, {moment(last.finished_at or last.started_at)}" if last else None),
            ("next run", moment(activity.next_run_at) if activity else None),
            ("now", f"{activity.running} running, {activity.queued} queued" if activity else None),
            ("7 days", f"{counts.succeeded} succeeded, {counts.failed} failed" if counts else None),
            ("limits", f"{duration(agent.timeout)}, {agent.memory} MiB, {agent.cpu:g} CPU"),
            ("at once", str(agent.max_concurrency)),
            ("concurrency keys", f"held by {agent.concurrency_key_scope}s"),
            ("attempts", f"{agent.max_attempts}, {duration(agent.retry_delay)} apart"),
            ("kept warm", duration(agent.keep_warm)),
            ("isolation", agent.isolation),
            ("in a process", _in_a_process(agent)),
            ("profile", agent.profile),
            ("egress", agent.egress),
            *_preload(agent),
            ("variables", ", ".join(names) or "none"),
            ("stores", "\n".join(agent.store_ids) or "none"),
            ("bundle", agent.bundle_id),
            ("tool", agent.tool_name),
            ("", agent.tool_description if agent.tool_name else None),
        ]
    )
    requirements = agent.requirements.strip()
    if requirements:
        heading("requirements")
        echo(requirements)
    for key in ("input_schema", "output_schema"):
        given, hinted = getattr(agent, key), getattr(agent, "hinted_" + key)
        schema = hinted if given is None else given
        if schema is not None:
            heading(key if given is not None else f"{key}, of the type hints of main")
            echo(json.dumps(schema, indent=2, ensure_ascii=False))
    heading("script" if agent.script_path is None else f"script {agent.script_path}")
    echo(agent.script.rstrip())


def _in_a_process(agent: roost.Agent) -> str:
    count = agent.requests_per_process
    return "one execution" if count in (1, None) else f"{count} executions at once"


def _preload(agent: roost.Agent) -> list[tuple[str, str | None]]:
    """Return what executors import in advance, what that saves, and what they leave out."""
    from .times import duration, size

    found = agent.preloaded
    if found is None:
        unknown = "auto, not known before the first execution of this revision"
        return [("preload", unknown if agent.preload == "auto" else agent.preload)]
    saved = f"{duration(found.import_seconds)} less for each execution"
    packages = _some(found.packages)
    rows: list[tuple[str, str | None]] = [
        ("preload", f"{agent.preload}, {_count(found.modules, 'module')}: {saved}"),
        ("", f"{size(found.memory_bytes)} of memory for each executor"),
        ("preloaded", packages or "nothing"),
    ]
    if found.left_out:
        lines = [f"{each.module}: {each.reason}" for each in found.left_out[:_MOST_LEFT_OUT]]
        more = len(found.left_out) - len(lines)
        lines += [f"and {more} more: `roost show {agent.name} --json`"] if more else []
        rows.append(("left out", "\n".join(lines)))
    return rows


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_PACKAGES
    return ", ".join([*names[:_MOST_PACKAGES], *([f"and {more} more"] if more > 0 else [])])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _behind(agent: roost.Agent) -> str | None:
    """Return which revision runs, if it isn't the newest."""
    failure, building = agent.build_failure, agent.building_revision
    runs = agent.running_revision
    if runs in (None, agent.revision):
        return None
    if building is not None:
        return f"revision {building} is building; revision {runs} runs until then"
    return (
        f"revision {agent.revision} failed to build; revision {runs} still runs"
        if failure
        else None
    )


def _source(run: roost.Execution | roost.ExecutorJob) -> str:
    draft = ", draft" if run.draft else ""
    return f"{run.agent_id}, revision {run.agent_revision}{draft}"


def _execution(execution: roost.Execution) -> None:
    from .output import facts, heading, print_json, state_text
    from .times import duration, moment, size

    timings, usage, error = execution.timings, execution.usage, execution.error
    facts(
        [
            ("execution", execution.id),
            ("state", state_text(execution.state, execution.reason)),
            ("message", execution.message),
            ("agent", _name(execution.agent_id)),
            ("", _source(execution)),
            ("job", f"{execution.executor_job_id}, attempt {execution.attempt}"),
            ("started", moment(execution.started_at)),
            ("queued", duration(timings.queued) if timings else None),
            ("starting", duration(timings.starting) if timings else None),
            ("running", duration(timings.running) if timings else None),
            ("CPU", duration(usage.cpu_seconds) if usage else None),
            ("memory", size(usage.max_memory_bytes) if usage else None),
            ("log", f"{execution.log_entries} lines; `roost logs {execution.id}`"),
        ]
    )
    if error is not None and error.traceback:
        heading("error")
        echo(error.traceback.rstrip())
    if execution.state == "succeeded":
        heading("return value")
        print_json(execution.return_value)


def _job(job: roost.ExecutorJob) -> None:
    from .output import facts, heading, json_text, print_json, state_text
    from .times import moment

    execution = job.execution
    facts(
        [
            ("job", job.id),
            ("state", state_text(job.state, job.reason)),
            ("waiting on", job.waiting_on),
            ("continues", moment(job.resume_at) if job.resume_at else None),
            ("message", job.message),
            ("agent", _name(job.agent_id)),
            ("", _source(job)),
            ("created", moment(job.created_at)),
            ("ended", moment(job.finished_at)),
            ("attempts", str(job.attempts)),
            ("schedule", job.schedule_id),
            ("batch", job.batch_id),
            ("called by", job.parent_id),
            ("execution", execution.id if execution else "none yet"),
            ("payload", None if job.payload is None else json_text(job.payload)),
        ]
    )
    if execution is not None and execution.state == "succeeded":
        heading("return value")
        print_json(execution.return_value)


def _builder_job(job: roost.BuilderJob) -> None:
    from .output import facts, heading, state_text
    from .times import lapse, moment

    facts(
        [
            ("build job", job.id),
            ("state", state_text(job.state, "reused" if job.reused else job.reason)),
            ("agent", _name(job.agent_id)),
            ("", f"{job.agent_id}, revision {job.agent_revision}"),
            ("Python", job.python_version),
            ("created", moment(job.created_at)),
            ("took", lapse(job.started_at, job.finished_at)),
            ("build", job.build_id),
            ("log", f"`roost logs {job.id}`"),
        ]
    )
    if job.message:
        heading("error")
        echo(job.message)
    if job.requirements.strip():
        heading("requirements")
        echo(job.requirements.strip())


def _build(build: roost.Build) -> None:
    from .output import Column, facts, table
    from .times import duration, moment, size

    facts(
        [
            ("build", build.id),
            ("Python", build.python_version),
            ("image", build.image),
            ("base", build.base),
            ("size", size(build.size_bytes)),
            ("took", duration(build.duration)),
            ("created", moment(build.created_at)),
            ("removed", moment(build.removed_at)),
        ]
    )
    packages = build.packages or ()
    if packages:
        echo()
        rows = [(each.name, each.version, size(each.size_bytes)) for each in packages]
        table((Column("PACKAGE"), Column("VERSION"), Column("SIZE", right=True)), rows)


def _schedule(schedule: roost.Schedule) -> None:
    from .output import facts, json_text, state_text
    from .times import duration, moment

    last = schedule.last_run
    facts(
        [
            ("schedule", schedule.id),
            ("name", schedule.name),
            ("agent", _name(schedule.agent_id)),
            ("", schedule.agent_id),
            ("cron", f"{schedule.cron} ({schedule.time_zone})"),
            ("", schedule.description),
            ("state", state_text(schedule.state)),
            ("next run", moment(schedule.next_run_at)),
            ("last run", state_text(last.state) if last else "never"),
            ("", f"{last.executor_job_id}, {moment(last.scheduled_time)}" if last else None),
            ("missed runs", schedule.missed_runs),
            ("overlap", schedule.overlap),
            ("jitter", duration(schedule.jitter) if schedule.jitter else None),
            ("starts", moment(schedule.starts_at)),
            ("ends", moment(schedule.ends_at)),
            ("payload", None if schedule.payload is None else json_text(schedule.payload)),
        ]
    )


def _store(store: roost.DataStore) -> None:
    from .output import facts
    from .times import moment, size

    names = connect.agent_names(store.agent_ids or ())
    facts(
        [
            ("store", store.name),
            ("id", store.id),
            ("entries", f"{store.entries:,}"),
            ("size", size(store.size_bytes)),
            ("agents", ", ".join(names.values()) or "none"),
            ("created", moment(store.created_at)),
            ("changed", moment(store.updated_at)),
        ]
    )


def _webhook(webhook: roost.Webhook) -> None:
    from .output import facts, state_text
    from .times import moment

    facts(
        [
            ("webhook", webhook.id),
            ("URL", webhook.url),
            ("state", state_text(webhook.state)),
            ("message", webhook.message),
            ("events", ", ".join(webhook.event_types or ()) or "all"),
            ("agent", _name(webhook.agent_id) if webhook.agent_id else None),
            ("description", webhook.description),
            ("created", moment(webhook.created_at)),
        ]
    )


def _name(agent_id: str) -> str:
    return connect.agent_names([agent_id])[agent_id]
