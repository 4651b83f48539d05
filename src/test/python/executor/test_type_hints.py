"""Payloads and return values as the type hints of `main` say, and the schemas made of the hints."""

import dataclasses
import datetime
import decimal
import enum
import inspect
import sys
import uuid
from collections.abc import Sequence
from typing import Annotated, Any, Callable, Literal, NewType, Optional, TypedDict, Union

import pydantic
import pytest
from executor import PACKAGE, Executor

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor.script.typed_values import Mismatch, Unsupported, schema_of, value_type  # noqa: E402

SDK = PACKAGE.parents[3] / "sdk/python/src"
REPORTS = {"agent": {"reports_schemas": True}}

INVOICE = """
    import dataclasses, datetime, sys
    from typing import Optional

    @dataclasses.dataclass
    class Line:
        text: str
        cents: int = 0

    @dataclasses.dataclass
    class Invoice:
        '''What a customer owes.'''
        number: str
        due: datetime.date
        lines: list[Line]
        note: Optional[str] = None

    @dataclasses.dataclass
    class Total:
        cents: int
        due: datetime.date

    def main(request: "Request[Invoice]") -> Total:
        invoice = request.payload
        return Total(sum(line.cents for line in invoice.lines), invoice.due)
"""
SENT = '{"number": "A1", "due": "2026-11-29", "lines": [{"text": "tea", "cents": 250}, {"text": "gift"}]}'


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Options(TypedDict, total=False):
    colour: Colour


@dataclasses.dataclass
class Node:
    name: str
    children: "list[Node]" = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Positive:
    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("it is negative")


Seconds = NewType("Seconds", float)
NOON = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.timezone.utc)


def test_main_gets_an_object_of_the_type_and_returns_one(executor: Executor) -> None:
    result = executor.run(INVOICE, payload=SENT, **REPORTS)
    assert result.value == {"cents": 250, "due": "2026-11-29"}
    (started,) = [frame for frame in result.frames if frame["type"] == "started"]
    assert started["schemas"] == {
        "input": {
            "type": "object",
            "title": "Invoice",
            "description": "What a customer owes.",
            "properties": {
                "number": {"type": "string"},
                "due": {"type": "string", "format": "date"},
                "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            },
            "required": ["number", "due", "lines"],
            "additionalProperties": False,
            "$defs": {
                "Line": {
                    "type": "object",
                    "title": "Line",
                    "properties": {"text": {"type": "string"}, "cents": {"type": "integer", "default": 0}},
                    "required": ["text"],
                    "additionalProperties": False,
                }
            },
        },
        "output": {
            "type": "object",
            "title": "Total",
            "properties": {"cents": {"type": "integer"}, "due": {"type": "string", "format": "date"}},
            "required": ["cents", "due"],
            "additionalProperties": False,
        },
    }


def test_the_schemas_are_reported_once_and_not_of_a_draft(executor: Executor) -> None:
    results = [
        executor.run(INVOICE, payload=SENT, draft=draft, **REPORTS)
        for draft in ("def main(request):\n    return 1\n", None, None)
    ]
    assert [["schemas" in frame for frame in result.frames][0] for result in results] == [False, True, False]


def test_a_payload_of_another_type_fails_and_the_schemas_are_reported(executor: Executor) -> None:
    payload = '{"number": "A1", "due": "soon", "lines": []}'
    result = executor.run(INVOICE, payload=payload, **REPORTS)
    assert result.reason == "exception"
    assert result.last["message"] == 'payload: /due must be a date, not "soon"'
    assert "schemas" in result.frames[0]


def test_several_executions_in_a_process_get_objects_as_well(executor: Executor) -> None:
    script = INVOICE.replace("def main", "async def main")
    work = {"agent": {"reports_schemas": True, "requests_per_process": 3}}
    results = [executor.run(script, payload=SENT, **work) for _ in range(2)]
    assert [result.value["cents"] for result in results] == [250, 250]
    assert [result.frames[0].get("schemas", {}).get("output", {}).get("title") for result in results] == ["Total", None]


def test_scripts_without_such_hints_are_as_before(executor: Executor) -> None:
    script = """
        from __future__ import annotations

        def main(request: Nothing, store: Unknown = None) -> dict[str, Missing]:
            return {"payload": request.payload}
    """
    result = executor.run(script, payload='{"a": 1}', **REPORTS)
    assert result.value == {"payload": {"a": 1}}
    assert result.frames[0]["schemas"] == {"input": None, "output": None}


def test_a_payload_without_json_is_an_error_of_the_script(executor: Executor) -> None:
    script = """
        import threading

        def main(request: "Request[threading.Thread]"):
            return 1
    """
    result = executor.run(script, **REPORTS)
    assert result.reason == "bad_signature"
    assert result.last["message"] == (
        "line 4: the payload of `main` can't be read as its type hint says: Thread is no dataclass, no TypedDict, "
        "no pydantic model and no type of JSON"
    )


@pytest.mark.parametrize(
    ("hint", "value", "loaded"),
    [
        (int, 3.0, 3),
        (float, 3, 3.0),
        (Any, {"a": [1]}, {"a": [1]}),
        (None, None, None),
        (Seconds, 1.5, 1.5),
        (str, "a", "a"),
        (Optional[int], None, None),
        (Union[int, str], "a", "a"),
        (Literal["a", 1], 1, 1),
        (Colour, "blue", Colour.BLUE),
        (dict[str, list[Colour]], {"x": ["red"]}, {"x": [Colour.RED]}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int, ...], [1, 2], (1, 2)),
        (Sequence[int], [1], [1]),
        (frozenset, [1, 1], frozenset({1})),
        (Options, {"colour": "red", "more": 1}, {"colour": Colour.RED, "more": 1}),
        (Node, {"name": "a", "children": [{"name": "b"}]}, Node("a", [Node("b")])),
        (Annotated[int, "seconds"], 5, 5),
        (datetime.datetime, "2026-11-29T12:00:00Z", NOON),
        (uuid.UUID, "12345678-1234-5678-1234-567812345678", uuid.UUID("12345678-1234-5678-1234-567812345678")),
        (decimal.Decimal, "1.50", decimal.Decimal("1.50")),
    ],
)
def test_values_are_read_and_written_again(hint: Any, value: Any, loaded: Any) -> None:
    kind = value_type(hint)
    found = kind.load(value)
    assert found == loaded
    assert type(found) is type(loaded)
    assert kind.load(kind.dump(found)) == loaded


@pytest.mark.parametrize(
    ("hint", "value", "problem"),
    [
        (int, True, "/ must be an integer, not true"),
        (int, 1.5, "/ must be an integer, not 1.5"),
        (float, float("nan"), None),
        (bool, 1, "/ must be a boolean, not 1"),
        (str, None, "/ must be a string, not null"),
        (Literal[1], True, "/ must be one of 1, not true"),
        (Colour, ["red"], '/ must be one of "red", "blue", not an array'),
        (list[int], {"a": 1}, "/ must be an array, not an object"),
        (tuple[int, str], [1], "/ must have 2 elements, not 1"),
        (dict[str, int], {"a/b": "x" * 100}, f'/a~1b must be an integer, not "{"x" * 59}…'),
        (Optional[Node], {"name": "a", "children": [{"name": 1}]}, "/children/0/name must be a string, not 1"),
        (Node, {}, "/name is missing"),
        (Node, {"name": "a", "nome": 1}, "/nome is not a field of Node"),
        (Positive, {"value": -1}, "/ is refused by Positive: it is negative"),
        (decimal.Decimal, "x", '/ must be a Decimal, not "x"'),
        (set, [[]], "/ can't be a set: unhashable type: 'list'"),
    ],
)
def test_a_mistake_is_named_with_its_place(hint: Any, value: Any, problem: "str | None") -> None:
    if problem is None:
        assert value_type(hint).load(value) != value  # NaN is a number of Python's JSON
        return
    with pytest.raises(Mismatch) as caught:
        value_type(hint).load(value)
    assert str(caught.value) == problem


def test_a_class_that_refers_to_itself_has_a_schema() -> None:
    own = {
        "type": "object",
        "title": "Node",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
        "required": ["name"],
        "additionalProperties": False,
    }
    assert schema_of(value_type(Node)) == {"$ref": "#/$defs/Node", "$defs": {"Node": own}}


def test_descriptions_choices_and_optional_members_are_in_the_schema() -> None:
    @dataclasses.dataclass
    class Search:
        query: Annotated[str, "what to look for"]
        options: Options
        order: Literal["new", "old"] = "new"

    schema = schema_of(value_type(Search))
    assert schema["properties"]["query"] == {"type": "string", "description": "what to look for"}
    assert schema["properties"]["order"] == {"enum": ["new", "old"], "default": "new"}
    assert schema["$defs"]["Options"] == {
        "type": "object",
        "title": "Options",
        "properties": {"colour": {"enum": ["red", "blue"]}},
    }


@pytest.mark.parametrize("hint", [bytes, object(), Callable[[], int], dict[int, str], list[bytes], Literal[b"a"]])
def test_what_has_no_json_is_refused(hint: Any) -> None:
    with pytest.raises(Unsupported):
        value_type(hint)


def test_models_of_pydantic() -> None:
    class Item(pydantic.BaseModel):
        name: str = pydantic.Field(min_length=2)

    class Order(pydantic.BaseModel):
        items: list[Item]
        placed: datetime.datetime

    @dataclasses.dataclass
    class Both:
        order: Order
        item: Item

    kind = value_type(Both)
    value = {"order": {"items": [{"name": "tea"}], "placed": "2026-11-29T12:00:00Z"}, "item": {"name": "pot"}}
    loaded = kind.load(value)
    assert isinstance(loaded.order.items[0], Item)
    assert kind.dump(loaded) == value
    schema = schema_of(kind)
    assert sorted(schema["$defs"]) == ["Item", "Order"]
    assert schema["$defs"]["Order"]["properties"]["items"]["items"] == {"$ref": "#/$defs/Item"}
    with pytest.raises(Mismatch) as caught:
        kind.load({**value, "item": {"name": "x"}})
    assert str(caught.value).startswith("/item/name is refused by Item:")


@pytest.mark.skipif(sys.version_info < (3, 10), reason="X | Y is a type since Python 3.10")
def test_unions_with_a_bar() -> None:
    assert value_type(eval("list[int] | None")).load([1]) == [1]


def test_the_type_in_the_client_library_has_what_the_request_has() -> None:
    sys.path.insert(0, str(SDK))
    try:
        from roost import Request as Declared
    finally:
        sys.path.remove(str(SDK))
    from roost_executor.script.request import Request

    assert [name for name in dir(Declared) if not name.startswith("_")] == [
        name for name in dir(Request) if not name.startswith("_") and name not in Declared.__annotations__
    ]
    for name, method in vars(Request).items():
        if not name.startswith("_") and inspect.isfunction(method):
            own = inspect.signature(method).parameters.values()
            declared = inspect.signature(getattr(Declared, name)).parameters.values()
            assert [(p.name, p.kind, p.default) for p in declared] == [(p.name, p.kind, p.default) for p in own], name


def test_the_hint_of_the_client_library_is_taken_as_well(executor: Executor) -> None:
    script = f"""
        import sys

        sys.path.append({str(SDK)!r})
        from roost import Request
        from typing import TypedDict

        class Input(TypedDict):
            n: int

        async def main(request: Request[Input]) -> "list[Input]":
            return [request.payload]
    """
    result = executor.run(script, payload='{"n": 1}', **REPORTS)
    assert result.value == [{"n": 1}]
    schemas = result.frames[0]["schemas"]
    assert schemas["input"]["required"] == ["n"]
    assert schemas["output"]["items"] == {"$ref": "#/$defs/Input"}
