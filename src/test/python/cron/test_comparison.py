"""Compares when Roost's expressions come true with what two other programs say, which know nothing of it.

Where they differ, a rule with a name says why, and what is right instead; that has to be Roost's answer. A difference
that no rule explains fails. The counts are printed (pytest -s, or a failure, shows them).
"""

from __future__ import annotations

import calendar
import random
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from answers import COUNT, Answer, Question, ask
from expressions import ZONES, expression, instant

SEED = 20251
CASES = 10_000
CASES_OF_CRONITER = 4_000  # it is slower
MOST_TICKS = 50_000
FARTHEST_WALK = timedelta(days=400)
NEVER = "never"
LOST = "lost"


def test_times_are_those_of_cronsim_in_zones_that_change_their_clocks() -> None:
    cronsim = pytest.importorskip("cronsim", reason="cronsim needs Python 3.11")
    chance = random.Random(SEED)
    questions = []
    for _ in range(CASES):
        zone = chance.choice(ZONES)
        questions.append(Question(expression(chance), zone, instant(chance, zone)))
    oracle = CronSim(cronsim)
    compare(questions, oracle.times, [oracle.only_later, oracle.walked, other_data])


def test_times_are_those_of_croniter_where_clocks_are_not_changed() -> None:
    croniter = Croniter(pytest.importorskip("croniter"))
    chance = random.Random(SEED + 1)
    zones = ["UTC", "Asia/Kathmandu", "America/Phoenix"]
    questions = []
    for _ in range(CASES_OF_CRONITER):
        zone = chance.choice(zones)
        questions.append(Question(expression(chance, weekdays=True), zone, instant(chance, zone)))
    compare(questions, croniter.times, [croniter.with_sunday, croniter.of_long_months, croniter.of_each_side])


def compare(questions: list[Question], oracle: Any, rules: list[Any]) -> None:
    counts: Counter[str] = Counter()
    unexplained = []
    for question, answer in zip(questions, ask(questions)):
        ours: object = NEVER if answer.error else answer.utc()
        theirs = oracle(question)
        if ours == theirs:
            counts["the same" + (", impossible" if answer.error else "")] += 1
            continue
        for rule in rules:
            if rule(question, answer) == ours:
                counts[rule.__doc__.split(":")[0]] += 1
                break
        else:
            unexplained.append(f"{question}\n  roost: {answer}\n  other: {theirs}")
    print(f"\n{len(questions)} questions:", *(f"{count} {name};" for name, count in counts.most_common()))
    assert not unexplained, f"{len(unexplained)} differences:\n" + "\n".join(unexplained[:20])
    assert counts["the same"] > 0.9 * len(questions)


class CronSim:
    """The main oracle: it has the same rules, those of Debian's cron."""

    def __init__(self, module: Any) -> None:
        class Bounded(module.CronSim):  # type: ignore[misc]
            """Ends where the original would go on for ever: at midnights that happen twice."""

            ticks = 0

            def tick(self, *arguments: Any, **named: Any) -> None:
                self.ticks += 1
                if self.ticks > MOST_TICKS:
                    raise OverflowError(LOST)
                super().tick(*arguments, **named)

        self.make = Bounded
        self.error = module.CronSimError

    def all_times(self, question: Question) -> Iterator[datetime]:
        local = question.after.astimezone(ZoneInfo(question.zone))
        for time in self.make(question.expression, local):
            yield time.astimezone(timezone.utc)

    def times(self, question: Question) -> object:
        try:
            return list(islice(self.all_times(question), COUNT)) or NEVER
        except self.error:
            return NEVER
        except OverflowError:
            return LOST

    def only_later(self, question: Question, answer: Answer) -> object:
        """cronsim returns times again that are past: after the first of two equal hours, it looks at the clock alone."""
        later = (time for time in self.all_times(question) if time > question.after)
        return None if star(question) else list(islice(later, COUNT))

    def walked(self, question: Question, answer: Answer) -> object:
        """cronsim goes astray where clocks are changed: whole hours and midnights are its steps; minutes are not."""
        if not star(question) or not answer.times or answer.utc()[-1] - question.after > FARTHEST_WALK:
            return None
        fields = self.make(question.expression, question.after)

        def right_day(local: datetime) -> bool:
            return local.month in fields.months and fields.match_day(local.date())

        zone = ZoneInfo(question.zone)
        time = question.after.replace(second=0) + timedelta(minutes=1)
        found: list[datetime] = []
        while len(found) < COUNT and time - question.after < FARTHEST_WALK:
            local, later = time.astimezone(zone), (time + timedelta(hours=1)).astimezone(zone)
            if local.utcoffset() == later.utcoffset() and not right_day(local) and not right_day(later):
                time += timedelta(hours=1)
                continue
            if local.minute in fields.minutes and local.hour in fields.hours and right_day(local):
                found.append(time)
            time += timedelta(minutes=1)
        return found


class Croniter:
    """The second oracle. It has other rules for the change of clocks, and takes a star with a step for no star."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def times(self, question: Question) -> object:
        return list(islice(self.all_times(question, question.expression), COUNT)) or NEVER

    def with_sunday(self, question: Question, answer: Answer) -> object:
        """croniter ends n/step at Saturday: Roost and cronsim at 7, which is Sunday."""
        return list(islice(self.all_times(question, to_sunday(question.expression)), COUNT))

    def of_long_months(self, question: Question, answer: Answer) -> object:
        """croniter takes the last day for the 31W of a short month: as 31 does, it leaves that month out."""
        if either(question.expression):
            return None
        return list(islice(self.without_short_months(question, to_sunday(question.expression)), COUNT)) or NEVER

    def of_each_side(self, question: Question, answer: Answer) -> object:
        """croniter mixes up W, # or 5L with the other field of days: each alone is right, and either will do."""
        minute, hour, of_month, month, of_week = to_sunday(question.expression).split()
        if not either(question.expression) or not re.search(r"#|\dL|W", of_week + of_month):
            return None
        sides = [(minute, hour, of_month, month, "*"), (minute, hour, "*", month, of_week)]
        times = [islice(self.without_short_months(question, " ".join(side)), COUNT) for side in sides]
        return sorted({time for side in times for time in side})[:COUNT]

    def without_short_months(self, question: Question, text: str) -> Iterator[datetime]:
        day = re.search(r"(\d+)W", text)
        for time in self.all_times(question, text):
            local = time.astimezone(ZoneInfo(question.zone))
            if local.year > question.after.year + 60:
                return
            if day is None or int(day[1]) <= calendar.monthrange(local.year, local.month)[1]:
                yield time

    def all_times(self, question: Question, text: str) -> Iterator[datetime]:
        # A zone without changes is as good as any: its clock is read as UTC.
        offset = question.after.astimezone(ZoneInfo(question.zone)).utcoffset()
        assert offset is not None
        start = question.after + offset
        try:
            times = self.module.croniter(spelled(text), start, day_or=either(text), max_years_between_matches=60)
            while True:
                yield times.get_next(datetime) - offset
        except self.module.CroniterBadDateError:
            return


def other_data(question: Question, answer: Answer) -> object:
    """The data of time zones differ: Python's has another offset at one of the times than Java's."""
    zone = ZoneInfo(question.zone)
    differ = any(time.utcoffset() != time.astimezone(zone).utcoffset() for time in answer.times)
    return answer.utc() if differ else None


def star(question: Question) -> bool:
    """Does it follow the clock on the wall?"""
    minute, hour = question.expression.split()[:2]
    return minute.startswith("*") or hour.startswith("*")


def either(text: str) -> bool:
    """Does one of both fields of days suffice?"""
    fields = text.split()
    return not fields[2].startswith("*") and not fields[4].startswith("*")


def to_sunday(text: str) -> str:
    """With 5-7/2 for a 5/2 of the day of the week."""
    *fields, of_week = text.split()
    return " ".join([*fields, re.sub(r"(^|,)(\w+)/", r"\g<1>\g<2>-7/", of_week)])


def spelled(text: str) -> str:
    """As croniter writes it: L5 for 5L."""
    *fields, of_week = text.split()
    return " ".join([*fields, f"L{of_week[0]}" if of_week.endswith("L") else of_week])
