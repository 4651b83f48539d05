"""Asks Roost's `Cron`, in one Java for all questions."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = ROOT / "src/test/java/dev/roost/schedule/CronAnswers.java"
# Set by check.py when there is a packaged server: then there are classes, and nothing is left out.
CLASSES = os.environ.get("ROOST_TEST_CLASSES")
COUNT = 4


@dataclass(frozen=True)
class Question:
    """The times of an expression in a zone after an instant (UTC)."""

    expression: str
    zone: str
    after: datetime


@dataclass(frozen=True)
class Answer:
    """The words and COUNT times, with the offsets that Java knows; or what is wrong with the expression."""

    error: str | None
    words: str
    times: list[datetime]

    def utc(self) -> list[datetime]:
        return [time.astimezone(timezone.utc) for time in self.times]


def ask(questions: list[Question]) -> list[Answer]:
    """An answer to each question, in their order."""
    classes = Path(CLASSES) if CLASSES else ROOT / "target/classes"
    if not CLASSES and not (classes / "dev/roost/schedule/Cron.class").exists():
        pytest.skip("nothing is built: no target/classes")
    java = Path(os.environ["JAVA_HOME"], "bin/java") if os.environ.get("JAVA_HOME") else "java"
    lines = "".join(f"{q.expression}\t{q.zone}\t{q.after.isoformat()[:19]}Z\t{COUNT}\n" for q in questions)
    command = [str(java), "-XX:TieredStopAtLevel=1", "-cp", str(classes), str(PROGRAM)]
    run = subprocess.run(command, input=lines, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    answers = [_answer(line) for line in run.stdout.splitlines()]
    assert len(answers) == len(questions)
    return answers


def _answer(line: str) -> Answer:
    if line.startswith("!"):
        return Answer(line[1:], "", [])
    words, *times = line.split("\t")
    return Answer(None, words, [datetime.fromisoformat(time.replace("Z", "+00:00")) for time in times])
