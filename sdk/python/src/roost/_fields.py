"""What all resources have in common: read-only fields over the server's answer."""

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
    """A field of the API's answer. Read-only; `None` when the answer didn't have it."""

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
        raise AttributeError(f"{self._name} can't be assigned; what can be changed has update()")


class Record:
    """A thing that the server keeps, as it was when it was last asked for.

    Two are equal when they are the same thing, whatever is known of it. Pickling leaves the client
    out; the copy uses the default one.
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
        """Return what the API said of it, as a copy that is the caller's own: JSON values only."""
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
    """Return a path of these parts; all but the first are percent-encoded, slashes too."""
    first, *rest = parts
    encoded: list[str] = []
    for part in rest:
        if not part:
            raise ValueError("an empty id names nothing")
        # Dots alone would be taken for "this folder" and "the one above".
        dots = part in (".", "..")
        encoded.append(part.replace(".", "%2E") if dots else quote(part, safe=""))
    return "/".join([first, *encoded])


def known_fields(kind: Any, data: Mapping[str, Any]) -> Any:
    """Return a dataclass of what it knows of `data`; what it doesn't know is left out."""
    return kind(**{name: data.get(name) for name in kind.__dataclass_fields__})


@contextmanager
def hint_at_name(id: str, prefix: str) -> Generator[None, None, None]:  # noqa: A002
    """Say in a `NotFound` of the block that what was given as an id may be a name."""
    try:
        yield
    except NotFound as error:
        if not id.startswith(prefix):
            error.args = (f"{error}; {id!r} is no id: to find it by its name, give name={id!r}",)
        raise
