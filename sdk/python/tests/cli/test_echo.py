"""What scripts write can't control the terminal of who reads it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import roost
from roost._cli import echo, output
from roost._cli.log_lines import LogPrinter
from roost._cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain\ttext\nü 🐓", "plain\ttext\nü 🐓"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x1b[2J\x1b[H", "␛[2J␛[H"),
        ("50 %\r100 %", "50 %␍100 %"),
        ("line\r\n", "line\n"),
        ("\x9b31mred\x7f", "\ufffd31mred␡"),
        ("\x1b[31mred", "\x1b[31mred\x1b[0m"),
        ("\x1b[1mbold\x1b[0m", "\x1b[1mbold\x1b[0m"),
        ("\x1b[31\x1b[m", "␛[31\x1b[m\x1b[0m"),
        ("\x1b]52;c;cm0gLXJm\x1b\\", "␛]52;c;cm0gLXJm␛\\"),
    ],
)
def test_controls_are_shown_and_colours_end(written: str, shown: str) -> None:
    assert echo.safe(written) == shown


def test_a_log_in_a_terminal_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    LogPrinter().print(
        roost.LogEntry.of(
            {"seq": 1, "time": "2026-11-02T09:00:00Z", "stream": "stdout", "message": "\x1b[2Jgone"}
        )
    )
    assert terminal.getvalue() == "␛[2Jgone\n"


def test_values_in_a_terminal_are_safe_and_still_json(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    value = {"\x1b[2J": "\x9b2J\x7f"}
    output.print_json(value)
    assert not {"\x1b", "\x9b", "\x7f"} & set(terminal.getvalue())
    assert json.loads(terminal.getvalue()) == value


def test_values_line_by_line_in_a_terminal_are_safe_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    value = {"\x1b[2J": "\x9b2J\x7f", "text": "ü"}
    echo.echo(output.json_line(value))
    assert not {"\x1b", "\x9b", "\x7f"} & set(terminal.getvalue())
    assert terminal.getvalue().count("\n") == 1
    assert "ü" in terminal.getvalue()
    assert json.loads(terminal.getvalue()) == value


def test_a_progress_that_a_script_reports_is_one_safe_line(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(Progress, "_draw", lambda self: shown.append(self._status))
    Progress().say("\x1b[2Jreading\n\tpage 2")
    assert shown == ["␛[2Jreading page 2"]


def test_every_command_prints_this_way() -> None:
    for path in Path(echo.__file__).parent.glob("*.py"):
        if path.name != "echo.py":
            text = path.read_text(encoding="utf-8")
            assert "click.echo(" not in text, path.name
            assert "click.secho(" not in text, path.name
