"""Questions to people: `request.approval`."""

import json
from typing import Any

import pytest
from executor import Executor, merged

# A wait of unknown length ends the process after half a second, or at once.
AT_ONCE: "dict[str, Any]" = {"limits": {"suspend_after_seconds": 0.0}}
AGAIN: "dict[str, Any]" = merged(AT_ONCE, {"has_steps": True})


def waits(end: Any) -> "list[int]":
    assert end.last["type"] == "suspended", end.last
    return end.last["waits"]


def decision(approved: bool, **fields: Any) -> "dict[str, Any]":
    return {"approved": approved, "by": "Ada", "comment": None, "value": None, **fields}


def test_the_decision_is_what_the_script_gets(executor: Executor) -> None:
    script = """
        def main(request):
            form = {"properties": {"amount": {"type": "number"}}}
            pay = request.approval("Pay?", {"to": "Bob"}, form=form, assignees=["ada"], timeout=60)
            again = request.approval("Again?")
            return [bool(pay), pay.by, pay.comment, pay.value, bool(again), again.approved, list(again)]
    """
    job = executor.plane.job
    assert waits(executor.run(script, **AT_ONCE)) == [1]
    assert job.asked[1] == {
        "title": "Pay?",
        "details": {"to": "Bob"},
        "form": {"properties": {"amount": {"type": "number"}}},
        "assignees": ["ada"],
        "timeout": 60,
    }
    job.decide(1, decision(True, comment="Fine.", value={"amount": 20}))
    assert waits(executor.run(script, **AGAIN)) == [2]
    assert job.asked[2] == {"title": "Again?"}
    job.decide(2, decision(False))
    value = executor.run(script, **AGAIN).value
    assert value == [True, "Ada", "Fine.", {"amount": 20}, False, False, [False, "Ada", None, None]]


def test_several_at_the_same_time(executor: Executor) -> None:
    script = """
        import asyncio

        async def main(request):
            answers = await asyncio.gather(*(request.approval(f"Publish {n}?") for n in range(3)))
            return [bool(answer) for answer in answers]
    """
    job = executor.plane.job
    assert waits(executor.run(script, **AT_ONCE)) == [1, 2, 3]
    for number in (3, 1, 2):
        job.decide(number, decision(number != 2))
    assert executor.run(script, **AGAIN).value == [True, False, True]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('approval("")', "the title of an approval must have 1 to 200 characters"),
        ("approval(7)", "the title of an approval is an int; it must be a str"),
        ('approval("a", {1, 2})', "'details' of an approval isn't JSON"),
        ('approval("a", form=print)', "'form' of an approval isn't JSON"),
        ('approval("a", assignees="ada")', "assignees is a str; it must be a list of them"),
        ('approval("a", assignees=[7])', "an assignee is an int; it must be a str"),
        ('approval("a", timeout=-1)', "timeout"),
    ],
)
def test_bad_arguments(executor: Executor, call: str, message: str) -> None:
    end = executor.run(f"def main(request):\n    request.{call}")
    assert message in end.last["message"]
    assert not executor.plane.job.steps


def test_what_the_form_lacks_is_said(executor: Executor) -> None:
    end = executor.run('def main(request): request.approval("refused")', **AT_ONCE)
    assert "the approval 'refused' can't be asked for: The form has pattern" in end.last["message"]
    assert json.dumps(executor.plane.job.steps) == "[]"
