"""The settings of an agent in TOML: their keys and valid values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable, cast

from .env_file import mistake_in_name
from .mistakes import Mistakes, did_you_mean
from .toml_lines import line_of

__all__ = [
    "AGENT_KEYS",
    "SETTING_KEYS",
    "FromEnvironment",
    "Kind",
    "Table",
    "is_texts",
    "items_of",
    "table_of",
]


@dataclass(frozen=True)
class FromEnvironment:
    """A variable with the value of `name` in the command's environment, to keep secrets out."""

    name: str


def table_of(value: Any) -> dict[str, Any]:
    """Return a table of TOML; an empty one for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def items_of(value: Any) -> list[Any]:
    """Return a list of TOML; an empty one for anything else."""
    return value if _is_list(value) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_texts(value: Any) -> bool:
    """Return whether the value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in items_of(value))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_time(value: Any) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in items_of(value))


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


Kind = tuple[Callable[[Any], bool], str]
_TEXT: Kind = (_is_text, 'a string, such as "3.13"')
_NUMBER: Kind = (_is_number, "a number")
_WHOLE: Kind = (_is_whole, "an integer")
_TEXTS: Kind = (is_texts, 'a list of strings, such as ["people"]')
_TIME: Kind = (
    _is_time,
    "a time with an offset, such as 2026-12-01T09:00:00Z",
)


_SCHEMA: Kind = (
    lambda value: isinstance(value, dict) and _is_json(value),
    'a table, such as { type = "object", required = ["name"] }',
)


def _one_of(*words: str) -> Kind:
    return words.__contains__, " or ".join(f'"{word}"' for word in words)


# Passed to the API unchanged.
SETTING_KEYS: Mapping[str, Kind] = {
    "timeout": _NUMBER,
    "memory": _WHOLE,
    "cpu": _NUMBER,
    "max_concurrency": _WHOLE,
    "concurrency_key_scope": _one_of("execution", "job"),
    "max_attempts": _WHOLE,
    "retry_delay": _NUMBER,
    "never_retry": _TEXTS,
    "keep_warm": _NUMBER,
    "isolation": _one_of("process", "pod"),
    "requests_per_process": _WHOLE,
    "profile": _TEXT,
    "egress": (
        lambda value: isinstance(value, str) or is_texts(value),
        'a string, such as "none", or a list of strings, such as ["192.0.2.7:443"]',
    ),
    "preload": _one_of("auto", "off"),
    "input_schema": _SCHEMA,
    "output_schema": _SCHEMA,
    "tags": _TEXTS,
    "tool_name": _TEXT,
    "tool_description": _TEXT,
}
AGENT_KEYS: Mapping[str, Kind] = {
    **SETTING_KEYS,
    "name": _TEXT,
    "python_version": _TEXT,
    "stores": _TEXTS,
    "env_vars": (_is_table, "a table of names and strings"),
    "schedules": (_is_tables, 'a list of tables, such as [{ cron = "0 9 * * *" }]'),
}
_SCHEDULE_KEYS: Mapping[str, Kind] = {
    "cron": _TEXT,
    "name": _TEXT,
    "time_zone": _TEXT,
    "payload": (_is_json, "a JSON value"),
    "missed_runs": _one_of("skip", "run_once", "run_all"),
    "missed_runs_limit": _WHOLE,
    "overlap": _one_of("allow", "skip", "queue"),
    "jitter": _NUMBER,
    "starts_at": _TIME,
    "ends_at": _TIME,
}


@dataclass(frozen=True)
class Table:
    """A table of settings, with the text and path to find the lines of its keys."""

    values: Mapping[str, Any]
    text: str
    path: Sequence[str | int]
    mistakes: Mistakes

    def mistake(self, message: str, *keys: str | int, containing: str = "") -> None:
        """Add a mistake at the value under `keys`."""
        line = line_of(self.text, [*self.path, *keys], containing)
        self.mistakes.add(line, message)

    def checked(self, known: Mapping[str, Kind]) -> dict[str, Any]:
        """Return the valid values; add a mistake for each of the others."""
        valid: dict[str, Any] = {}
        for key, value in self.values.items():
            if key not in known:
                self.mistake(f"unknown key `{key}`" + did_you_mean(key, known), key)
                continue
            fits, wanted = known[key]
            if fits(value):
                valid[key] = value
            else:
                self.mistake(f"`{key}` must be {wanted}", key)
        return valid

    def env_vars(self) -> dict[str, str | FromEnvironment]:
        """Return the variables of `env_vars`."""
        found: dict[str, str | FromEnvironment] = {}
        for name, value in table_of(self.values.get("env_vars")).items():
            wrong = mistake_in_name(name)
            if wrong:
                self.mistake(wrong, "env_vars", name, containing=name)
            elif set(table_of(value)) == {"from_env"}:
                found[name] = FromEnvironment(str(table_of(value)["from_env"]))
            elif not isinstance(value, str) or "\n" in value or "\r" in value:
                wanted = 'a string of one line, or { from_env = "NAME" }'
                self.mistake(f"`{name}` must be {wanted}", "env_vars", name, containing=name)
            else:
                found[name] = value
        return found

    def schedules(self) -> list[dict[str, Any]]:
        """Return the schedules, as arguments of `Schedule.create`."""
        found: list[dict[str, Any]] = []
        for number, item in enumerate(items_of(self.values.get("schedules"))):
            values = table_of(item)
            table = Table(values, self.text, [*self.path, "schedules", number], self.mistakes)
            found.append(table.checked(_SCHEDULE_KEYS))
            if "cron" not in values:
                table.mistake('a schedule needs a `cron`, such as cron = "0 9 * * MON-FRI"')
        return found
