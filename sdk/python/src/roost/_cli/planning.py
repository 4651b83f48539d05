"""The plan of `roost deploy`: the differences between an agent's files and the server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._agent_text import egress_text
from .comparing import Change, FilesChange, requirement_lines, text_change, variable_changes
from .failures import Failure

if TYPE_CHECKING:
    import roost

    from .._bundles import BundleFile, Scan
    from .project import AgentFile

__all__ = ["SCHEDULE_PREFIX", "Plan", "SchedulePlan", "plan"]

SCHEDULE_PREFIX = "deploy/"
"""The prefix of the names of deployed schedules. Others aren't touched."""

_SCHEDULE_DEFAULTS: Mapping[str, Any] = {
    "time_zone": "UTC",
    "payload": None,
    "missed_runs": "run_once",
    "missed_runs_limit": 100,
    "overlap": "allow",
    "jitter": 0.0,
    "starts_at": None,
    "ends_at": None,
}
"""The server's defaults, so that a setting removed from a file is reset."""


@dataclass(frozen=True)
class SchedulePlan:
    """The change of one schedule from `present` to `wanted`.

    `present` is None for a new schedule, `wanted` for one that will be deleted.
    """

    name: str
    present: roost.Schedule | None
    wanted: Mapping[str, Any] | None

    @property
    def changes(self) -> list[Change]:
        """Return the changes."""
        label = f"schedule {self.name[len(SCHEDULE_PREFIX) :]}"
        if self.present is None or self.wanted is None:
            given = self.wanted or _settings_of(self.present)
            shown = {key: value for key, value in given.items() if value != _default(key)}
            return [
                Change(
                    label,
                    None if self.present is None else shown,
                    None if self.wanted is None else shown,
                )
            ]
        present = _settings_of(self.present)
        return [
            Change(f"{label}: {key}", present[key], value)
            for key, value in self.wanted.items()
            if present[key] != value
        ]


@dataclass(frozen=True)
class Plan:
    """The changes of one agent. `agent` is None if it doesn't exist yet.

    `settings` are the arguments of `Agent.create` or `Agent.update`: only what will change, without
    the `bundle` of `files`.
    """

    file: AgentFile
    agent: roost.Agent | None
    settings: Mapping[str, Any] = field(repr=False)
    changes: Sequence[Change] = ()
    schedules: Sequence[SchedulePlan] = ()
    # The files of its project, if they are to be sent.
    files: Scan | None = field(default=None, repr=False)

    @property
    def action(self) -> str:
        """Return `create`, `update` or `nothing`."""
        if self.agent is None:
            return "create"
        return "update" if self.changes or self.schedules else "nothing"

    def all_changes(self) -> list[Change]:
        """Return the changes, including schedules."""
        return [*self.changes, *(each for plan in self.schedules for each in plan.changes)]


def plan(client: roost.Client, file: AgentFile, upgrade: bool = False) -> Plan:
    """Compare the files with the server, without changes.

    `upgrade`: requirements that allow several versions get the newest.
    """
    import roost

    from .._run.interpreters import DEFAULT_VERSION
    from .locking import locked
    from .project_files import scanned

    files = scanned(file)
    runtime = client.runtime()
    variables = file.variables(os.environ)
    try:
        agent = client.agents.retrieve(name=file.name)
    except roost.NotFound:
        python = file.python_among(runtime.python_versions, runtime.default) or runtime.default
        settings = {
            "name": file.name,
            "script": file.text if files is None else None,
            "script_path": file.script_path,
            "requirements": "\n".join(locked(file, (), python or DEFAULT_VERSION)),
            "env_vars": variables,
            "stores": file.stores,
            "python_version": python,
            **file.settings,
        }
        given = {key: value for key, value in settings.items() if value is not None}
        changes = _first_changes(given)
        if files is not None:
            changes[1:1] = [_files_change((), files)]
        return Plan(file, None, given, changes, _schedules(file, ()), files)
    # Keep the agent's version if the header allows it: a newer one would require a build.
    python = file.python_among(runtime.python_versions, agent.python_version)
    present_lines = requirement_lines(agent.requirements)
    requirements = locked(file, present_lines, python or agent.python_version, upgrade)
    settings, changes = _differences(client, agent, file, variables, requirements)
    if files is not None:
        base = _base(client, agent)
        if base is None or base.sha256 != files.sha256:
            changes.insert(0, _files_change(base.manifest() if base else (), files))
        else:
            files = None
    if python not in (None, agent.python_version):
        settings["python_version"] = python
        changes.append(Change("python_version", agent.python_version, python))
    present = [
        schedule
        for schedule in client.schedules.list(agent_id=agent.id)
        if schedule.name.startswith(SCHEDULE_PREFIX)
    ]
    return Plan(file, agent, settings, changes, _schedules(file, present), files)


def _base(client: roost.Client, agent: roost.Agent) -> roost.Bundle | None:
    """Return the agent's bundle, if it has one."""
    import roost

    if agent.bundle_id is None:
        return None
    try:
        return client.bundles.retrieve(agent.bundle_id)
    except roost.NotFound:
        return None


def _files_change(before: Sequence[BundleFile], files: Scan) -> Change:
    from .._bundles import Difference

    return FilesChange("files", None, None, difference=Difference.between(before, files.files))


def _first_changes(settings: Mapping[str, Any]) -> list[Change]:
    changes: list[Change] = []
    for key, value in settings.items():
        if key == "script":
            changes.append(Change(key, None, value, text=True))
        elif key == "requirements":
            changes.append(Change(key, None, list(requirement_lines(value))))
        elif key == "env_vars":
            changes += variable_changes({}, value)
        elif key != "name":
            changes.append(Change(key, None, value))
    return changes


def _differences(
    client: roost.Client,
    agent: roost.Agent,
    file: AgentFile,
    variables: Mapping[str, str],
    wanted: Sequence[str],
) -> tuple[dict[str, Any], list[Change]]:
    """Return the arguments of `update`, and the changes."""
    settings: dict[str, Any] = {}
    changes: list[Change] = []
    changes += text_change("script", agent.script, file.text)
    if file.directory is not None:
        if file.script_path != agent.script_path:
            settings["script_path"] = file.script_path
            changes.append(Change("script_path", agent.script_path, file.script_path))
    elif agent.bundle_id is not None:
        settings.update(bundle=None, script=file.text)
        changes.append(Change("bundle", agent.bundle_id, None))
    elif changes:
        settings["script"] = file.text
    present = requirement_lines(agent.requirements)
    if list(present) != list(wanted):
        settings["requirements"] = "\n".join(wanted)
        changes += text_change("requirements", "\n".join(present), "\n".join(wanted))
    if variables and variables != (agent.env_vars or {}):
        settings["env_vars"] = variables
        changes += variable_changes(agent.env_vars or {}, variables)
    if file.stores is not None:
        ids = _store_ids(client, file.stores)
        if None in ids or list(ids) != list(agent.store_ids):
            settings["stores"] = list(file.stores)
            changes.append(Change("stores", _store_names(client, agent), list(file.stores)))
    for key, value in file.settings.items():
        if key == "egress":
            value = egress_text(value)
        elif key == "tags":  # as the server sorts them
            value = sorted(set(value))
        if getattr(agent, key) != value:
            settings[key] = value
            changes.append(Change(key, getattr(agent, key), value))
    return settings, changes


def _store_ids(client: roost.Client, names: Sequence[str]) -> list[str | None]:
    import roost

    ids: list[str | None] = []
    for name in names:
        try:
            ids.append(client.datastores.retrieve(name=name).id)
        except roost.NotFound:
            ids.append(None)  # it will be created
    return ids


def _store_names(client: roost.Client, agent: roost.Agent) -> list[str]:
    import roost

    names: list[str] = []
    for store_id in agent.store_ids:
        try:
            names.append(client.datastores.retrieve(store_id).name)
        except roost.NotFound:
            names.append(store_id)
    return names


def _schedules(file: AgentFile, present: Sequence[roost.Schedule]) -> list[SchedulePlan]:
    """Return the plans of the schedules that the file declares or has declared."""
    wanted: dict[str, Mapping[str, Any]] = {}
    for declared in file.schedules:
        name = SCHEDULE_PREFIX + declared.get("name", declared["cron"])
        if name in wanted:
            raise Failure(
                f'{file.name} has two schedules "{name[len(SCHEDULE_PREFIX) :]}".',
                hint='Give each a unique name: name = "…".',
            )
        settings = {key: value for key, value in declared.items() if key != "name"}
        wanted[name] = {**_SCHEDULE_DEFAULTS, **settings}
    plans: list[SchedulePlan] = []
    by_name = {schedule.name: schedule for schedule in present}
    for name, each in wanted.items():
        schedule = by_name.get(name)
        if schedule is None or _settings_of(schedule) != each:
            plans.append(SchedulePlan(name, schedule, each))
    plans += [SchedulePlan(name, by_name[name], None) for name in by_name if name not in wanted]
    return plans


def _settings_of(schedule: roost.Schedule | None) -> dict[str, Any]:
    return {key: getattr(schedule, key) for key in ("cron", *_SCHEDULE_DEFAULTS)}


def _default(key: str) -> Any:
    return _SCHEDULE_DEFAULTS.get(key)
