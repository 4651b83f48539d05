"""Figures, and how they are shown."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional


@dataclass(frozen=True)
class Row:
    """A figure, and the least that the same work costs.

    `unit` is "s", "B", or what there is of it, such as "a minute". `ratio` says how many times the floor it is: how
    much longer, or how many times fewer.
    """

    name: str
    unit: str
    value: float
    p95: Optional[float] = None
    p99: Optional[float] = None
    rounds: Optional[int] = None
    floor: Optional[float] = None
    floor_name: Optional[str] = None
    note: Optional[str] = None

    @property
    def ratio(self) -> Optional[float]:
        """How many times the floor, from 1 on if the floor is one."""
        if self.floor is None:
            return None
        return self.value / self.floor if self.unit in ("s", "B") else self.floor / self.value

    def as_json(self) -> "dict[str, Any]":
        """All of it, with the ratio."""
        return {**asdict(self), "ratio": self.ratio}


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest rank: the smallest value that so many percent are not above."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def latency(name: str, seconds: Sequence[float], **more: Any) -> Row:
    """A row of times, as percentiles."""
    p50, p95, p99 = (percentile(seconds, percent) for percent in (50, 95, 99))
    return Row(name, "s", p50, p95, p99, len(seconds), **more)


def shown(value: Optional[float], unit: str) -> str:
    """A figure with three digits that count and its unit."""
    if value is None:
        return ""
    if unit == "s" and value < 1e-4:
        return f"{three(value * 1e6)} µs"
    if unit == "s":
        return f"{three(value * 1000)} ms" if value < 1 else f"{three(value)} s"
    if unit == "B":
        return f"{three(value / 2**20)} MiB"
    return f"{three(value) if value < 100 else format(value, ',.0f')} {unit}"


def three(value: float) -> str:
    """Three digits, or more before the point."""
    digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:,.{max(0, digits)}f}"


def table(title: str, rows: Sequence[Row]) -> str:
    """Aligned columns under a heading."""
    heads = ["", "p50" if any(row.p95 for row in rows) else "", "p95", "p99", "floor", "ratio", "the floor is"]
    lines = [heads]
    for row in rows:
        ratio = "" if row.ratio is None else three(row.ratio)
        figures = [shown(figure, row.unit) for figure in (row.value, row.p95, row.p99, row.floor)]
        lines.append([row.name, *figures, ratio, row.floor_name or ""])
    used = [i for i in range(len(heads)) if any(line[i] for line in lines[1:])]
    widths = {i: max(len(line[i]) for line in lines) for i in used}
    text = []
    for line in lines:
        cells = [line[i].ljust(widths[i]) if i in (0, 6) else line[i].rjust(widths[i]) for i in used]
        text.append("  ".join(cells).rstrip())
    notes = [f"  {row.name}: {row.note}" for row in rows if row.note]
    return "\n".join(["", f"{title}", *text, *notes])
