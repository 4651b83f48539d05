"""The base of all resources: read-only fields of the server's response."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Callable, ClassVar, Generic, TypeVar, overload
from urllib.parse import quote

from ._errors import NotFound
from ._html import table

__all__ = ["Field", "Record", "hint_at_name", "known_fields", "path_to"]

T = TypeVar("T")


class Field(Generic[T]):
    """A read-only field of the API's response; `None` if absent."""

    __slots__ = ("_convert", "_name")

    def __init__(self, convert: Callable[[Any], T] | None = None) -> None:
        self._convert = convert
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Field[T]: ...

    @overload
    def __get__(self, instance: Record, owner: type) -> T: ...

    def __get__(self, instance: Record | None, owner: type) -> Any:
        if instance is None:
            return self
        value = instance._data.get(self._name)
        if value is None or self._convert is None:
            return value
        return self._convert(value)

    def __set__(self, instance: Record, value: object) -> None:
        raise AttributeError(f"{self._name} is read-only; use update(), where available")


class Record:
    """A resource of the server, as of its last retrieval.

    Equality compares the type and the id. Pickling omits the client; the copy uses the default one.
    """

    __slots__ = ("_bound", "_data")

    _shown: ClassVar[tuple[str, ...]] = ("id",)
    _shown_in_notebooks: ClassVar[tuple[str, ...]] = ()
    _path: ClassVar[str]

    id: Field[str] = Field()

    def __init__(self, client: Any, data: Mapping[str, Any]) -> None:
        self._bound = client
        self._data = data

    def _become(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def to_dict(self) -> dict[str, Any]:
        """Return a deep copy of the API's response, as JSON values."""
        import copy

        return copy.deepcopy(dict(self._data))

    def __repr__(self) -> str:
        fields = (f" {name}={self._data.get(name)!r}" for name in self._shown)
        return f"<{type(self).__module__}.{type(self).__name__}{''.join(fields)}>"

    def _repr_html_(self) -> str:
        names = (*self._shown, *self._shown_in_notebooks)
        rows = ((name, getattr(self, name)) for name in names if self._data.get(name) is not None)
        return table(type(self).__name__, rows)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Record):
            return type(self) is type(other) and self.id == other.id
        return NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self.id))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (None, self._data)


def path_to(*parts: str) -> str:
    """Return a path of these parts; all but the first are percent-encoded, including slashes."""
    first, *rest = parts
    encoded: list[str] = []
    for part in rest:
        if not part:
            raise ValueError("the id must not be empty")
        # "." and ".." would be resolved as path segments.
        dots = part in (".", "..")
        encoded.append(part.replace(".", "%2E") if dots else quote(part, safe=""))
    return "/".join([first, *encoded])


def known_fields(kind: Any, data: Mapping[str, Any]) -> Any:
    """Return a dataclass with its fields of `data`; unknown fields are ignored."""
    return kind(**{name: data.get(name) for name in kind.__dataclass_fields__})


@contextmanager
def hint_at_name(id: str, prefix: str) -> Generator[None, None, None]:  # noqa: A002
    """Add advice to a `NotFound` of the block if the id may be a name."""
    try:
        yield
    except NotFound as error:
        if not id.startswith(prefix):
            error.args = (f"{error}; {id!r} is not an id; to look up a name, use name={id!r}",)
        raise
