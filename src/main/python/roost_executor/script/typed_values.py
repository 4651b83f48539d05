"""JSON values as Python types: their JSON Schema, and both directions between the two.

`value_type` reads a type hint. What it knows are the types of JSON, dataclasses, TypedDicts, models of pydantic,
Literal, enumerations, unions, and times, UUIDs and decimal numbers, which are strings in JSON.
"""

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import sys
import types
import typing
import uuid
from typing import Any, Callable

from roost_executor.script.jsonvalue import NotJson, encode, with_article

# What a mistake's message shows of a value, in characters.
MOST_SHOWN = 60
DEFINITIONS = "#/$defs/"


class Unsupported(TypeError):
    """A type hint that has no JSON."""


class Mismatch(ValueError):
    """A value that is not of the type. `path` is a JSON Pointer."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path or '/'} {problem}")
        self.path = path


class Definitions:
    """The schemas of classes, by their names in `$defs`."""

    def __init__(self) -> None:
        self.schemas: dict[str, Any] = {}
        self._names: dict[type, str] = {}

    def reference(self, cls: type, schema: "Callable[[], dict[str, Any]]") -> "dict[str, Any]":
        """A reference to the schema of a class, which may refer to itself."""
        name = self._names.get(cls)
        if name is None:
            name = self._names[cls] = self._free(cls.__name__)
            self.schemas[name] = {}
            self.schemas[name] = own = schema()
            if name != cls.__name__ and self.schemas[cls.__name__] == own:
                # A model of pydantic has brought it along.
                del self.schemas[name]
                name = self._names[cls] = cls.__name__
        return {"$ref": DEFINITIONS + name}

    def adopt(self, schema: "dict[str, Any]") -> "dict[str, Any]":
        """A schema with `$defs` of its own, which become part of these."""
        own = schema.pop("$defs", {})
        names = {name: name if own[name] == self.schemas.get(name) else self._free(name) for name in own}
        for name, definition in own.items():
            self.schemas[names[name]] = _renamed(definition, names)
        return _renamed(schema, names)

    def _free(self, name: str) -> str:
        number, free = 1, name
        while free in self.schemas:
            number += 1
            free = f"{name}{number}"
        return free


def _renamed(schema: Any, names: "dict[str, str]") -> Any:
    if isinstance(schema, dict):
        return {
            key: DEFINITIONS + names.get(value[len(DEFINITIONS) :], value[len(DEFINITIONS) :])
            if key == "$ref" and isinstance(value, str) and value.startswith(DEFINITIONS)
            else _renamed(value, names)
            for key, value in schema.items()
        }
    return [_renamed(item, names) for item in schema] if isinstance(schema, list) else schema


class ValueType:
    """Any JSON value."""

    # Whether it says more than Python's own types do.
    is_structured = False

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        """Its JSON Schema."""
        return {}

    def load(self, value: Any, path: str = "") -> Any:
        """The Python value of a JSON value. Raises Mismatch."""
        return value

    def dump(self, value: Any) -> Any:
        """The JSON value of a Python value. What isn't of this type stays as it is."""
        return value


class Scalar(ValueType):
    """A string, a number, a boolean or null."""

    NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        return {"type": self.NAMES[self._cls]}

    def load(self, value: Any, path: str = "") -> Any:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if self._cls is float and is_number:
            return float(value)
        if self._cls is int and is_number and value == value // 1:
            return int(value)
        if self._cls not in (int, float) and isinstance(value, self._cls):
            return value
        raise Mismatch(path, f"must be {_article(self.NAMES[self._cls])}, not {_shown(value)}")


class Text(ValueType):
    """A string with a format."""

    def __init__(
        self, cls: type, form: "str | None", parse: "Callable[[str], Any]", write: "Callable[[Any], str]"
    ) -> None:
        self._cls = cls
        self._form = form
        self._parse = parse
        self._write = write

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        return {"type": "string", "format": self._form} if self._form else {"type": "string"}

    def load(self, value: Any, path: str = "") -> Any:
        if isinstance(value, str):
            try:
                return self._parse(value)
            except (ValueError, ArithmeticError):
                pass
        raise Mismatch(path, f"must be {_article(self._form or self._cls.__name__)}, not {_shown(value)}")

    def dump(self, value: Any) -> Any:
        return self._write(value) if isinstance(value, self._cls) else value


class Choice(ValueType):
    """One of some values: of a Literal, or an enumeration."""

    is_structured = True

    def __init__(self, members: "list[tuple[Any, Any]]") -> None:
        """`members`: the JSON value of each, and its Python value."""
        self._members = members

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        return {"enum": [value for value, _ in self._members]}

    def load(self, value: Any, path: str = "") -> Any:
        for own, member in self._members:
            if own == value and isinstance(own, bool) == isinstance(value, bool):
                return member
        allowed = ", ".join(encode(own) for own, _ in self._members)
        raise Mismatch(path, f"must be one of {allowed}, not {_shown(value)}")

    def dump(self, value: Any) -> Any:
        return value.value if isinstance(value, enum.Enum) else value


class Array(ValueType):
    """A list, a tuple or a set of one type."""

    def __init__(self, items: ValueType, make: "Callable[[list[Any]], Any]") -> None:
        self._items = items
        self._make = make
        self.is_structured = items.is_structured

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        schema = {"type": "array", "items": self._items.schema(definitions)}
        return {**schema, "uniqueItems": True} if self._make in (set, frozenset) else schema

    def load(self, value: Any, path: str = "") -> Any:
        items = [self._items.load(item, f"{path}/{i}") for i, item in enumerate(_list(value, path))]
        try:
            return self._make(items)
        except TypeError as error:
            raise Mismatch(path, f"can't be a set: {error}") from None

    def dump(self, value: Any) -> Any:
        return [self._items.dump(item) for item in value] if isinstance(value, (list, tuple, set, frozenset)) else value


class Tuple(ValueType):
    """A tuple with a type for each of its elements."""

    def __init__(self, items: "list[ValueType]") -> None:
        self._items = items
        self.is_structured = any(item.is_structured for item in items)

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        count = len(self._items)
        items = [item.schema(definitions) for item in self._items]
        return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}

    def load(self, value: Any, path: str = "") -> Any:
        if len(_list(value, path)) != len(self._items):
            raise Mismatch(path, f"must have {len(self._items)} elements, not {len(value)}")
        return tuple(item.load(value[i], f"{path}/{i}") for i, item in enumerate(self._items))

    def dump(self, value: Any) -> Any:
        if not isinstance(value, (list, tuple)) or len(value) != len(self._items):
            return value
        return [item.dump(value[i]) for i, item in enumerate(self._items)]


class Mapping(ValueType):
    """An object with values of one type."""

    def __init__(self, values: ValueType) -> None:
        self._values = values
        self.is_structured = values.is_structured

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        values = self._values.schema(definitions)
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}

    def load(self, value: Any, path: str = "") -> Any:
        return {key: self._values.load(item, _member(path, key)) for key, item in _dict(value, path).items()}

    def dump(self, value: Any) -> Any:
        if not isinstance(value, collections.abc.Mapping):
            return value
        return {key: self._values.dump(item) for key, item in value.items()}


class Union(ValueType):
    """The first of some types that a value has."""

    def __init__(self, types_: "list[ValueType]") -> None:
        self._types = types_
        self.is_structured = any(each.is_structured for each in types_)

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        return {"anyOf": [each.schema(definitions) for each in self._types]}

    def load(self, value: Any, path: str = "") -> Any:
        problems = []
        for each in self._types:
            try:
                return each.load(value, path)
            except Mismatch as problem:
                problems.append(problem)
        # The one that came furthest says what is wrong: of X | None, that of X.
        raise max(problems, key=lambda problem: len(problem.path))

    def dump(self, value: Any) -> Any:
        for each in self._types:
            dumped = each.dump(value)
            if dumped is not value:
                return dumped
        return value


class Described(ValueType):
    """A type with a description: `Annotated[int, "seconds"]`."""

    def __init__(self, inner: ValueType, description: str) -> None:
        self._inner = inner
        self._description = description
        self.is_structured = inner.is_structured
        self.load = inner.load  # type: ignore[method-assign]
        self.dump = inner.dump  # type: ignore[method-assign]

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        return {**self._inner.schema(definitions), "description": self._description}


class Member(typing.NamedTuple):
    """A member of an object."""

    name: str
    type: ValueType
    is_required: bool
    default: Any = dataclasses.MISSING


class Fields(ValueType):
    """A dataclass, which allows no other members, or a TypedDict, which does."""

    is_structured = True

    def __init__(self, cls: type, make: "Callable[[dict[str, Any]], Any]", is_closed: bool) -> None:
        self._cls = cls
        self._make = make
        self._is_closed = is_closed
        # Set after the object exists, since a member may be of the same class.
        self.members: list[Member] = []

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        return definitions.reference(self._cls, lambda: self._schema(definitions))

    def _schema(self, definitions: Definitions) -> "dict[str, Any]":
        schema: dict[str, Any] = {"type": "object", "title": self._cls.__name__}
        description = _description(self._cls)
        if description:
            schema["description"] = description
        properties = schema["properties"] = {}
        for member in self.members:
            own = properties[member.name] = dict(member.type.schema(definitions))
            if member.default is not dataclasses.MISSING:
                try:
                    encode(member.type.dump(member.default))
                except NotJson:
                    continue
                own["default"] = member.type.dump(member.default)
        required = [member.name for member in self.members if member.is_required]
        if required:
            schema["required"] = required
        if self._is_closed:
            schema["additionalProperties"] = False
        return schema

    def load(self, value: Any, path: str = "") -> Any:
        given = dict(_dict(value, path))
        loaded = {}
        for member in self.members:
            if member.name in given:
                loaded[member.name] = member.type.load(given.pop(member.name), _member(path, member.name))
            elif member.is_required:
                raise Mismatch(_member(path, member.name), "is missing")
        if self._is_closed:
            for name in given:
                raise Mismatch(_member(path, name), f"is not a field of {self._cls.__name__}")
            try:
                return self._make(loaded)
            except (ValueError, TypeError) as error:  # of __post_init__
                raise Mismatch(path, f"is refused by {self._cls.__name__}: {error}") from error
        return {**loaded, **given}

    def dump(self, value: Any) -> Any:
        if self._is_closed and isinstance(value, self._cls):
            return {member.name: member.type.dump(getattr(value, member.name)) for member in self.members}
        if not self._is_closed and isinstance(value, dict):
            own = {m.name: m.type.dump(value[m.name]) for m in self.members if m.name in value}
            return {**value, **own}
        return value


class Model(ValueType):
    """A model of pydantic, version 2."""

    is_structured = True

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def schema(self, definitions: Definitions) -> "dict[str, Any]":
        return definitions.reference(self._cls, lambda: definitions.adopt(self._cls.model_json_schema()))

    def load(self, value: Any, path: str = "") -> Any:
        try:
            return self._cls.model_validate(value)
        except ValueError as error:
            first = error.errors()[0] if hasattr(error, "errors") else {"loc": (), "msg": str(error)}
            where = "".join(_member("", str(part)) for part in first["loc"])
            raise Mismatch(path + where, f"is refused by {self._cls.__name__}: {first['msg']}") from error

    def dump(self, value: Any) -> Any:
        return value.model_dump(mode="json") if isinstance(value, self._cls) else value


# Since Python 3.11, `fromisoformat` takes Z as well.
def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in "Zz" else text)


SIMPLE: "dict[Any, ValueType]" = {
    **{cls: Scalar(cls) for cls in Scalar.NAMES},
    None: Scalar(type(None)),
    Any: ValueType(),
    object: ValueType(),
    datetime.datetime: Text(datetime.datetime, "date-time", _moment, datetime.datetime.isoformat),
    datetime.date: Text(datetime.date, "date", datetime.date.fromisoformat, datetime.date.isoformat),
    datetime.time: Text(datetime.time, "time", datetime.time.fromisoformat, datetime.time.isoformat),
    uuid.UUID: Text(uuid.UUID, "uuid", uuid.UUID, str),
    decimal.Decimal: Text(decimal.Decimal, None, decimal.Decimal, str),
    list: Array(ValueType(), list),
    tuple: Array(ValueType(), tuple),
    set: Array(ValueType(), set),
    frozenset: Array(ValueType(), frozenset),
    dict: Mapping(ValueType()),
}
ARRAYS: "dict[Any, Callable[[list[Any]], Any]]" = {
    list: list,
    set: set,
    frozenset: frozenset,
    collections.abc.Sequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
    collections.abc.Set: frozenset,
}
OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
# TypedDict's own: whether a member is required is known from the class.
QUALIFIERS = tuple(getattr(typing, name) for name in ("Required", "NotRequired", "ReadOnly") if hasattr(typing, name))


def value_type(hint: Any) -> ValueType:
    """What a type hint means. Raises Unsupported, and what a hint as a string raises when it is evaluated."""
    return _Reader().read(hint)


def schema_of(value: ValueType) -> "dict[str, Any]":
    """The JSON Schema (draft 2020-12) of a type, which refers to nothing outside itself."""
    definitions = Definitions()
    schema = value.schema(definitions)
    if definitions.schemas:
        schema = {**schema, "$defs": definitions.schemas}
    root = schema.get("$ref", "")[len(DEFINITIONS) :]
    rest = {name: each for name, each in definitions.schemas.items() if name != root}
    if len(schema) == 2 and root and encode(definitions.schemas).count(encode(DEFINITIONS + root)) == 0:
        # Nothing else refers to the class, so the schema is that of the class itself.
        return {**definitions.schemas[root], **({"$defs": rest} if rest else {})}
    return schema


class _Reader:
    """Reads one hint; remembers classes, which may refer to themselves."""

    def __init__(self) -> None:
        self._classes: dict[type, ValueType] = {}

    def read(self, hint: Any) -> ValueType:
        hint = getattr(hint, "__supertype__", hint)  # NewType
        try:
            simple = SIMPLE.get(hint)
        except TypeError:  # it has no hash
            simple = None
        if simple is not None:
            return simple
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is not None:
            return self._generic(hint, origin, arguments)
        if type(hint).__name__ == "TypeAliasType":
            return self.read(hint.__value__)
        if isinstance(hint, type):
            return self._class(hint)
        raise Unsupported(f"{_name(hint)} has no JSON")

    def _generic(self, hint: Any, origin: Any, arguments: "tuple[Any, ...]") -> ValueType:
        if origin in QUALIFIERS:
            return self.read(arguments[0])
        if hasattr(hint, "__metadata__"):  # Annotated
            inner = self.read(arguments[0])
            texts = [
                each if isinstance(each, str) else getattr(each, "documentation", None) for each in hint.__metadata__
            ]
            text = next((each for each in texts if isinstance(each, str)), None)
            return Described(inner, text) if text else inner
        if origin in UNIONS:
            return Union([self.read(each) for each in arguments])
        if origin is typing.Literal:
            return Choice([(_json(each), each) for each in arguments])
        if origin is tuple:
            if len(arguments) == 2 and arguments[1] is Ellipsis:
                return Array(self.read(arguments[0]), tuple)
            return Tuple([self.read(each) for each in arguments])
        if origin in ARRAYS:
            return Array(self.read(arguments[0]), ARRAYS[origin])
        if origin in OBJECTS and arguments[0] is str:
            return Mapping(self.read(arguments[1]))
        raise Unsupported(f"{_name(hint)} has no JSON")

    def _class(self, cls: Any) -> ValueType:
        if cls in self._classes:
            return self._classes[cls]
        if hasattr(cls, "model_json_schema") and hasattr(cls, "model_validate"):
            return Model(cls)
        if issubclass(cls, enum.Enum):
            return Choice([(_json(member.value), member) for member in cls])
        fields: Fields
        if dataclasses.is_dataclass(cls):
            fields = self._classes[cls] = Fields(cls, lambda given: cls(**given), is_closed=True)
            hints = _hints(cls)
            for each in dataclasses.fields(cls):
                if each.init:
                    has_default = (
                        each.default is not dataclasses.MISSING or each.default_factory is not dataclasses.MISSING
                    )
                    fields.members.append(Member(each.name, self.read(hints[each.name]), not has_default, each.default))
            return fields
        if issubclass(cls, dict) and hasattr(cls, "__required_keys__"):
            fields = self._classes[cls] = Fields(cls, dict, is_closed=False)
            for name, each in _hints(cls).items():
                fields.members.append(Member(name, self.read(each), name in cls.__required_keys__))
            return fields
        raise Unsupported(f"{cls.__name__} is no dataclass, no TypedDict, no pydantic model and no type of JSON")


def _hints(cls: Any) -> "dict[str, Any]":
    return typing.get_type_hints(cls, vars(sys.modules.get(cls.__module__, typing)), include_extras=True)


def _json(value: Any) -> Any:
    plain = value.value if isinstance(value, enum.Enum) else value
    if not isinstance(plain, (str, int, float, bool, type(None))):
        raise Unsupported(f"{plain!r} is no JSON value")
    return plain


def _description(cls: type) -> "str | None":
    text = cls.__dict__.get("__doc__")
    # A dataclass without a docstring gets its signature.
    is_own = isinstance(text, str) and not text.startswith(f"{cls.__name__}(")
    return " ".join(text.split()) if is_own and text else None


def _name(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint)


def _member(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"


def _list(value: Any, path: str) -> "list[Any]":
    if not isinstance(value, list):
        raise Mismatch(path, f"must be an array, not {_shown(value)}")
    return value


def _dict(value: Any, path: str) -> "dict[str, Any]":
    if not isinstance(value, dict):
        raise Mismatch(path, f"must be an object, not {_shown(value)}")
    return value


def _article(name: str) -> str:
    return "null" if name == "null" else f"{'an' if name[:1].lower() in 'aeio' else 'a'} {name}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    try:
        text = encode(value)
    except NotJson:
        return with_article(value)
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…"
