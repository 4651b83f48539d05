"""`Project`: the agents described by a script's header, a `roost.toml` or a `pyproject.toml`.

A PEP 723 header makes a script a complete agent:

    # /// script
    # requires-python = ">=3.11"
    # dependencies = ["Jinja2==3.1.4"]
    #
    # [tool.roost]
    # name = "greeter"
    # stores = ["people"]
    # ///

A `roost.toml` has the same keys for several agents, each in `[agents.NAME]` with `script = "path"`.
With `directory = "."`, an agent has the files of that directory, and its script is in it. A
`pyproject.toml` has the keys in `[tool.roost]`, for one agent with the files of its directory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Callable, TypeVar

from .files import read_env_file, read_requirements, read_text
from .header import parse_toml, read_header
from .mistakes import Mistakes, ProjectError, did_you_mean
from .pythons import allows, is_specifier
from .requirements import mistake_in
from .settings_file import (
    AGENT_KEYS,
    SETTING_KEYS,
    FromEnvironment,
    Kind,
    Table,
    is_texts,
    items_of,
    table_of,
)

__all__ = ["AgentFile", "FromEnvironment", "Project", "ProjectError"]

_Read = TypeVar("_Read")

_PYPROJECT = "pyproject.toml"
_HEADER_KEYS = ("requires-python", "dependencies", "tool")  # all that PEP 723 has


def _is_path(value: Any) -> bool:
    return isinstance(value, str)


def _is_path_or_list(value: Any) -> bool:
    return isinstance(value, (str, list))


_TOML_KEYS: Mapping[str, Kind] = {
    **AGENT_KEYS,
    "script": (_is_path, 'the path of a script, such as "greeter.py"'),
    "env_file": (_is_path, "the path of a file of KEY=VALUE lines"),
    "requirements": (_is_path_or_list, 'the path of a file, or a list such as ["Jinja2==3.1.4"]'),
}
_SEVERAL_KEYS: Mapping[str, Kind] = {
    **_TOML_KEYS,
    "directory": (_is_path, 'the path of a directory, such as "."'),
}
_SCRIPTS = ("main.py", "agent.py")


@dataclass(frozen=True)
class AgentFile:
    """One agent as its files describe it.

    `text` is the script's text; `requirements` are lines of PEP 508; `stores` is None for a
    store with the agent's name. `directory` is that of a project, whose files go with the script,
    None for a script alone. `settings` are API settings of the same names (`timeout`, `memory`
    and so on), `schedules` arguments of `Schedule.create`, each only if given. `files` are all
    files that were read.
    """

    name: str
    script: Path
    text: str = field(repr=False)
    requirements: Sequence[str] = ()
    requires_python: str | None = None
    python_version: str | None = None
    env_vars: Mapping[str, str | FromEnvironment] = field(
        default_factory=dict[str, Any], repr=False
    )
    stores: Sequence[str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    schedules: Sequence[Mapping[str, Any]] = ()
    files: Sequence[Path] = ()
    directory: Path | None = None

    @property
    def script_path(self) -> str | None:
        """The path of the script in the project's directory."""
        if self.directory is None:
            return None
        return self.script.relative_to(self.directory).as_posix()

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return `env_vars` with `from_env` resolved; ProjectError if a variable isn't set."""
        values: dict[str, str] = {}
        for name, value in self.env_vars.items():
            if isinstance(value, FromEnvironment):
                if value.name not in environment:
                    raise ProjectError(
                        f"{self.script}: `{name}` is taken from the environment variable "
                        f"{value.name}, which is not set. Set it, or use --env {name}=…"
                    )
                value = environment[value.name]
            values[name] = value
        return values

    def python_among(self, versions: Sequence[str], default: str | None) -> str | None:
        """Return the version to use: `python_version`, or one that the header allows.

        None when neither is set. Of several allowed versions the default, else the newest.
        ProjectError when none is allowed.
        """
        if self.python_version is not None or self.requires_python is None:
            return self.python_version
        fitting = [version for version in versions if allows(self.requires_python, version)]
        if not fitting:
            available = ", ".join(versions) or "none"
            raise ProjectError(
                f"{self.script}: requires-python is {self.requires_python!r}; "
                f"available versions: {available}"
            )
        if default in fitting:
            return default
        return max(fitting, key=lambda version: [int(part) for part in version.split(".")])


@dataclass(frozen=True)
class Project:
    """The agents of one file: a script, a `roost.toml` or a `pyproject.toml`."""

    path: Path
    agents: Sequence[AgentFile]

    @classmethod
    def read(cls, path: str | Path) -> Project:
        """Read a script, a `roost.toml` or `pyproject.toml`, or the directory of one.

        Raises `ProjectError` with all mistakes, one `file:line: mistake` per line.
        """
        path = cls.file_of(path)
        if path.name == _PYPROJECT:
            return cls(path, (_from_pyproject(path),))
        if path.suffix != ".toml":
            return cls(path, (_from_script(path),))
        return cls(path, tuple(_from_toml(path)))

    @staticmethod
    def file_of(path: str | Path) -> Path:
        """Return the file that is read for a path."""
        path = Path(path)
        if not path.is_dir():
            return path
        is_project = not (path / "roost.toml").exists() and (path / _PYPROJECT).exists()
        return path / (_PYPROJECT if is_project else "roost.toml")

    def agent(self, name: str | None = None) -> AgentFile:
        """Return the agent of that name, or the only one; ProjectError when there is none."""
        if name is None:
            if len(self.agents) == 1:
                return self.agents[0]
            names = ", ".join(agent.name for agent in self.agents) or "none"
            raise ProjectError(f"{self.path}: which agent? Agents: {names}")
        for agent in self.agents:
            if agent.name == name:
                return agent
        known = [agent.name for agent in self.agents]
        raise ProjectError(f"{self.path}: there is no agent `{name}`" + did_you_mean(name, known))


def _from_script(path: Path) -> AgentFile:
    text = read_text(path)
    mistakes = Mistakes(path)
    header = read_header(text, mistakes)
    if header is None:
        mistakes.raise_any()
        return AgentFile(path.stem, path, text, files=(path,))
    lines = mistakes.offset_by(header.first_line - 1)
    whole = Table(header.values, header.text, (), lines)
    for key in header.values:
        if key not in _HEADER_KEYS:
            whole.mistake(f"unknown key `{key}`" + did_you_mean(key, _HEADER_KEYS), key)
    requires_python = whole.values.get("requires-python")
    if requires_python is not None and not is_specifier(str(requires_python)):
        whole.mistake('`requires-python` must be a specifier, such as ">=3.11"', "requires-python")
    requirements = whole.values.get("dependencies", [])
    _check_requirements(whole, "dependencies", requirements)
    values = table_of(whole.values.get("tool")).get("roost", {})
    if not isinstance(values, dict):
        whole.mistake("`tool.roost` must be a table", "tool", "roost")
    table = Table(table_of(values), header.text, ("tool", "roost"), lines)
    valid = table.checked(AGENT_KEYS)
    env_vars, schedules = table.env_vars(), table.schedules()
    mistakes.raise_any()
    return AgentFile(
        name=valid.get("name", path.stem),
        script=path,
        text=text,
        requirements=tuple(requirements),
        requires_python=requires_python,
        python_version=valid.get("python_version"),
        env_vars=env_vars,
        stores=valid.get("stores"),
        settings={key: value for key, value in valid.items() if key in SETTING_KEYS},
        schedules=schedules,
        files=(path,),
    )


def _from_toml(path: Path) -> list[AgentFile]:
    text = read_text(path)
    mistakes = Mistakes(path)
    values = parse_toml(text, mistakes) or {}
    mistakes.raise_any()
    whole = Table(values, text, (), mistakes)
    for key in values:
        if key != "agents":
            whole.mistake(f"unknown key `{key}`; write an agent as a table [agents.NAME]", key)
    tables = table_of(values.get("agents"))
    if not all(isinstance(item, dict) for item in tables.values()):
        whole.mistake("`agents` must have a table for each agent: [agents.NAME]", "agents")
    agents: list[AgentFile] = []
    for name, table in tables.items():
        agent = _agent(path, name, Table(table_of(table), text, ("agents", name), mistakes))
        if agent is not None:
            agents.append(agent)
    mistakes.raise_any()
    return agents


def _agent(path: Path, name: str, table: Table) -> AgentFile | None:
    """Read one agent of a `roost.toml`, with defaults from its script's header."""
    valid = table.checked(_SEVERAL_KEYS)
    env_vars, schedules = table.env_vars(), table.schedules()
    directory = None
    if "directory" in valid:
        directory = path.parent / valid["directory"]
        if not directory.is_dir():
            table.mistake(f"there is no directory {directory}", "directory")
            return None
        script = _script_in(directory, table, valid)
        if script is None:
            return None
    elif "script" not in valid:
        if "script" not in table.values:
            table.mistake(f'[agents.{name}] needs a `script`, such as script = "{name}.py"')
        return None
    else:
        script = path.parent / valid["script"]
        if not script.is_file():
            table.mistake(f"there is no file {script}", "script")
            return None
    own = _from_script(script)
    requirements, files = own.requirements, [path, script]
    if "requirements" in valid:
        requirements = _given_requirements(path, table, valid["requirements"], files)
    from_file = _given_variables(path, table, valid, files)
    given = {key: value for key, value in valid.items() if key in SETTING_KEYS}
    return AgentFile(
        name=valid.get("name", name),
        script=script,
        text=own.text,
        requirements=tuple(requirements),
        requires_python=own.requires_python,
        python_version=valid.get("python_version", own.python_version),
        env_vars={**own.env_vars, **from_file, **env_vars},
        stores=valid.get("stores", own.stores),
        settings={**own.settings, **given},
        schedules=schedules if "schedules" in table.values else own.schedules,
        files=tuple(files),
        directory=directory,
    )


def _from_pyproject(path: Path) -> AgentFile:
    """Read the agent of a `pyproject.toml`, which has the files of its directory."""
    text = read_text(path)
    mistakes = Mistakes(path)
    values = parse_toml(text, mistakes) or {}
    mistakes.raise_any()
    tools = table_of(values.get("tool"))
    if not isinstance(tools.get("roost"), dict):
        raise ProjectError(f"{path}: there is no table [tool.roost] with an agent's settings")
    project = Table(table_of(values.get("project")), text, ("project",), mistakes)
    table = Table(table_of(tools["roost"]), text, ("tool", "roost"), mistakes)
    valid = table.checked(_TOML_KEYS)
    env_vars, schedules = table.env_vars(), table.schedules()
    script = _script_in(path.parent, table, valid)
    requires_python = project.values.get("requires-python")
    if requires_python is not None and not is_specifier(str(requires_python)):
        project.mistake(
            '`requires-python` must be a specifier, such as ">=3.11"', "requires-python"
        )
    files = [path] if script is None else [path, script]
    if "requirements" in valid:
        requirements = _given_requirements(path, table, valid["requirements"], files)
    else:
        requirements = project.values.get("dependencies", [])
        _check_requirements(project, "dependencies", requirements)
    from_file = _given_variables(path, table, valid, files)
    name = valid.get("name", project.values.get("name"))
    if not isinstance(name, str):
        table.mistake('the agent needs a `name`, here or in [project], such as name = "reports"')
    mistakes.raise_any()
    assert script is not None
    assert isinstance(name, str)
    return AgentFile(
        name=name,
        script=script,
        text=read_text(script),
        requirements=tuple(requirements),
        requires_python=requires_python,
        python_version=valid.get("python_version"),
        env_vars={**from_file, **env_vars},
        stores=valid.get("stores"),
        settings={key: value for key, value in valid.items() if key in SETTING_KEYS},
        schedules=schedules,
        files=tuple(files),
        directory=path.parent,
    )


def _script_in(directory: Path, table: Table, valid: Mapping[str, Any]) -> Path | None:
    """Return the script of a project; None, with a mistake, if there is none."""
    if "script" in table.values:
        if "script" not in valid:
            return None
        name = PurePosixPath(valid["script"])
        if name.is_absolute() or ".." in name.parts or name.suffix != ".py":
            table.mistake("`script` must be the path of a .py file in the directory", "script")
            return None
        script = directory / name
        if not script.is_file():
            table.mistake(f"there is no file {script}", "script")
            return None
        return script
    for each in _SCRIPTS:
        if (directory / each).is_file():
            return directory / each
    table.mistake(
        f"{directory} has no {' or '.join(_SCRIPTS)}; name the script, such as "
        'script = "src/main.py"'
    )
    return None


def _given_requirements(path: Path, table: Table, value: Any, files: list[Path]) -> Sequence[str]:
    """Return the requirements of a file, which is added to `files`, or of a list."""
    if not isinstance(value, str):
        _check_requirements(table, "requirements", value)
        return items_of(value)
    file = path.parent / value
    files.append(file)
    return _file(table, "requirements", file, read_requirements) or ()


def _given_variables(
    path: Path, table: Table, valid: Mapping[str, Any], files: list[Path]
) -> dict[str, str]:
    """Return the variables of `env_file`, if there is one, which is added to `files`."""
    if "env_file" not in valid:
        return {}
    file = path.parent / valid["env_file"]
    files.append(file)
    return _file(table, "env_file", file, read_env_file) or {}


def _file(table: Table, key: str, file: Path, read: Callable[[Path], _Read]) -> _Read | None:
    if not file.is_file():
        table.mistake(f"there is no file {file}", key)
        return None
    return read(file)


def _check_requirements(table: Table, key: str, value: object) -> None:
    if not is_texts(value):
        table.mistake(f'`{key}` must be a list of strings, such as ["Jinja2==3.1.4"]', key)
        return
    for number, requirement in enumerate(items_of(value)):
        wrong = mistake_in(requirement)
        if wrong:
            table.mistake(wrong, key, number, containing=requirement)
