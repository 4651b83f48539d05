"""Random cron expressions, zones and instants; the same ones for the same seed."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

# Shifts by half an hour, at midnight, on both halves of the globe, twice a year for Ramadan, by a whole day, and none.
ZONES = [
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Santiago",
    "America/Asuncion",
    "America/Havana",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
]

FIRST = datetime(2005, 1, 1, tzinfo=timezone.utc)
YEARS = 25


@dataclass(frozen=True)
class Field:
    """What a field may have, how often it is a star, and how often a star with a step."""

    lowest: int
    highest: int
    star: float
    step: float
    names: tuple[str, ...] = ()


FIELDS = [
    Field(0, 59, 0.15, 0.15),
    Field(0, 23, 0.2, 0.15),
    Field(1, 31, 0.45, 0.07),
    Field(1, 12, 0.55, 0.1, tuple(MONTHS)),
    Field(0, 7, 0.45, 0.05, tuple(DAYS)),
]


def expression(chance: random.Random, weekdays: bool = False) -> str:
    """Five fields; with W only when asked for, and then without LW."""
    texts = [_field(chance, field) for field in FIELDS]
    if weekdays and chance.random() < 0.2:
        texts[2] = f"{chance.randint(1, 31)}W"
        texts[4] = chance.choice([texts[4], "*", "*", "*"])
    elif chance.random() < 0.08:
        texts[2] = chance.choice(["L", "15,L", "L" if weekdays else "LW"])
    if texts[4] != "*" and chance.random() < 0.2:
        day = chance.randint(0, 7)
        texts[4] = chance.choice([f"{day}L", f"{day % 7}#{chance.randint(1, 5)}", f"{DAYS[day % 7]}#2"])
    if chance.random() < 0.35:  # the hours in which clocks are changed
        texts[1] = chance.choice(["0", "1", "2", "3", "0-3", "1,2", "23"])
    return " ".join(texts)


def _field(chance: random.Random, field: Field) -> str:
    kind = chance.random()
    if kind < field.star:
        return "*"
    longest = (field.highest - field.lowest) // 2
    if kind < field.star + field.step:
        return f"*/{chance.randint(1, longest)}"
    return ",".join(_term(chance, field, longest) for _ in range(chance.choice([1, 1, 1, 2, 3])))


def _term(chance: random.Random, field: Field, longest: int) -> str:
    kind = chance.random()
    first = chance.randint(field.lowest, field.highest)
    last = chance.randint(first, field.highest)
    if kind < 0.5 or first == last:
        return _name(chance, field, first)
    if kind < 0.75:
        return f"{_name(chance, field, first)}-{_name(chance, field, last)}"
    step = chance.randint(1, longest)
    return f"{first}-{last}/{step}" if kind < 0.9 else f"{first}/{step}"


def _name(chance: random.Random, field: Field, value: int) -> str:
    at = value - field.lowest
    if at >= len(field.names) or chance.random() < 0.7:
        return str(value)
    return chance.choice([str.upper, str.lower, str.title])(field.names[at])


def instant(chance: random.Random, zone: str) -> datetime:
    """In UTC: any minute, or (two of three times) one within two days of a change of the zone's clocks."""
    near = changes(zone)
    if not near or chance.random() < 1 / 3:
        return FIRST + timedelta(minutes=chance.randrange(60 * 24 * 365 * YEARS), seconds=chance.choice([0, 0, 30]))
    return chance.choice(near) + timedelta(minutes=chance.randrange(-60 * 36, 60 * 12))


@functools.cache
def changes(zone: str) -> list[datetime]:
    """When the zone's clocks are changed, to the hour."""
    place = ZoneInfo(zone)
    found, before = [], FIRST.astimezone(place).utcoffset()
    for day in range(365 * YEARS):
        morning = FIRST + timedelta(days=day)
        after = (morning + timedelta(days=1)).astimezone(place).utcoffset()
        if after != before:
            hours = (morning + timedelta(hours=hour) for hour in range(25))
            found.append(next(hour for hour in hours if hour.astimezone(place).utcoffset() != before))
            before = after
    return found
