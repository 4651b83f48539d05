"""Points requirements of Roost's SDK to the wheel that comes with Roost, never to an index."""

import re
from pathlib import Path

from roost_builder.failures import BuildFailed


def with_wheel(lines: list[str], wheel: Path) -> list[str]:
    """The requirements, with those that name the wheel's package pointing to the wheel.

    Raises BuildFailed when one of them pins another version, or when there is no such wheel.
    """
    name, version = wheel.name.split("-")[:2]
    extras, pinned, marker = r"(?P<extras>\[[^\]]*\])?", r"(?:==\s*(?P<version>[^\s;]+))?", r"(?P<marker>;.*)?"
    own = re.compile(r"\s*".join([re.escape(name), extras, pinned, marker]))
    result = []
    for line in lines:
        match = own.fullmatch(line.strip())
        if match is None:
            result.append(line)
            continue
        if match["version"] not in (None, version):
            raise BuildFailed(
                "requirement_not_found",
                f"This Roost has version {version} of {name}, not {match['version']}. "
                f"Write {name} or {name}=={version}.",
            )
        if not wheel.is_file():
            raise BuildFailed(
                "runtime_unavailable",
                f"The builder has no {wheel.name}: it is of another version of Roost (roost.kubernetes.builder-image).",
            )
        result.append(f"{name}{match['extras'] or ''} @ {wheel.absolute().as_uri()} {match['marker'] or ''}".rstrip())
    return result
