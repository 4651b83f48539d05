"""The plan of `roost run`: the project's files, with the command's options applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .._run.defaults import MEMORY_MIB, TIMEOUT_SECONDS
from .._run.interpreters import DEFAULT_VERSION, SUPPORTED, versions
from .._run.local_run import Job
from .._values import NOT_GIVEN, dump_json
from .flags import with_flags
from .payloads import named_files, read_payload
from .project import AgentFile, Project
from .project_files import selected
from .pythons import allows

__all__ = ["Options", "Plan"]


@dataclass(frozen=True)
class Options:
    """The command's options."""

    file: Path
    agent: str | None = None
    payload: str | None = None
    env: Sequence[str] = ()
    env_file: Path | None = None
    requirements: Path | None = None
    python: str | None = None
    stores: Sequence[str] = ()
    store_dir: Path | None = None
    given: Sequence[str] = ()
    artifacts: Path | None = None
    timeout: float | None = None
    upgrade: bool = False

    @property
    def files(self) -> list[Path]:
        """The files that the options name."""
        named = [Project.file_of(self.file)]
        named += [path for path in (self.env_file, self.requirements) if path is not None]
        if self.payload is not None and self.payload.startswith("@"):
            named.append(Path(self.payload[1:]))
        return [*named, *named_files(self.given).values()]


@dataclass(frozen=True)
class Plan:
    """One run: the agent's files, the job and the Python version."""

    agent: AgentFile
    job: Job
    python_version: str
    stores_file: Path
    artifacts: Path

    @classmethod
    def read(cls, options: Options, environment: Mapping[str, str]) -> Plan:
        """Read the files; raises ProjectError or click's errors if they are invalid."""
        agent = with_flags(
            Project.read(options.file).agent(options.agent),
            python=options.python,
            requirements=options.requirements,
            env=options.env,
            env_file=options.env_file,
        )
        payload = read_payload(options.payload)
        timeout = agent.settings.get("timeout", TIMEOUT_SECONDS)
        names = options.stores or ([agent.name] if agent.stores is None else agent.stores)
        job = Job(
            script=agent.text,
            payload=None if payload is NOT_GIVEN else dump_json(payload, "payload").decode(),
            env_vars=agent.variables(environment),
            stores=tuple(dict.fromkeys(names)),
            files=named_files(options.given),
            timeout=timeout if options.timeout is None else options.timeout,
            memory=agent.settings.get("memory", MEMORY_MIB),
            project=selected(agent),
            script_path=agent.script_path,
        )
        beside = agent.script.parent if agent.directory is None else agent.directory
        directory = options.store_dir or beside / ".roost"
        python = _python_version(agent, environment)
        artifacts = options.artifacts or directory / "artifacts"
        return cls(agent, job, python, directory / "stores.db", artifacts)


def _python_version(agent: AgentFile, environment: Mapping[str, str]) -> str:
    """Return the version that a server with this machine's Pythons would use."""
    if agent.python_version is not None:
        return agent.python_version
    installed = versions(environment)
    if agent.requires_python is not None:
        installed = [version for version in installed if allows(agent.requires_python, version)]
        # uv fetches one that isn't here.
        return agent.python_among(installed or SUPPORTED, DEFAULT_VERSION) or DEFAULT_VERSION
    return DEFAULT_VERSION if DEFAULT_VERSION in installed or not installed else installed[-1]
