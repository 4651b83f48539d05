"""What the type hints of `main` say: `def main(request: Request[Input]) -> Output`."""

import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from roost_executor.script.failures import ScriptFailure
from roost_executor.script.jsonvalue import encode
from roost_executor.script.request import Request

if TYPE_CHECKING:
    from roost_executor.script.typed_values import ValueType

NAME = "Request"
# Of a schema, as JSON: what the control plane takes.
MOST_BYTES = 64 * 1024


class TypeHints(NamedTuple):
    """The types of the payload and the return value; None if hints don't say them."""

    payload: "ValueType | None" = None
    returned: "ValueType | None" = None

    def schemas(self) -> "dict[str, Any]":
        """Their JSON Schemas, for the control plane."""
        return {"input": _schema(self.payload), "output": _schema(self.returned)}

    def take(self, request: Request) -> None:
        """Replaces the payload by an object of its type. Raises ScriptFailure if it is none."""
        if self.payload is None:
            return
        from roost_executor.script.typed_values import Mismatch

        try:
            value = self.payload.load(request.payload)
        except Mismatch as problem:
            raise ScriptFailure("exception", f"payload: {problem}", error_type="ValueError") from None
        object.__setattr__(request, "payload", value)

    def give(self, value: Any) -> Any:
        """What `main` has returned, as JSON if it is of the type."""
        return value if self.returned is None else self.returned.dump(value)


NONE = TypeHints()


def type_hints(main: "Callable[..., Any]", module: ModuleType) -> TypeHints:
    """Reads the hints of `main`. Raises ScriptFailure (`bad_signature`) for a payload that has no JSON."""
    function: Any = main
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    if type(function) is not FunctionType:
        return NONE
    hints = _annotations(function)
    code = function.__code__
    first = hints.get(code.co_varnames[0]) if code.co_argcount else None
    result = hints.get("return")
    if first is None and result is None:
        return NONE
    names = vars(module)
    return TypeHints(_payload(_resolved(first, names), function), _returned(_resolved(result, names)))


def _annotations(function: Any) -> "dict[str, Any]":
    try:
        return function.__annotations__
    except Exception:  # since Python 3.14, they are evaluated here; a name may be there for type checkers only
        import annotationlib

        return annotationlib.get_annotations(function, format=annotationlib.Format.STRING)


def _resolved(hint: Any, names: "dict[str, Any]") -> Any:
    """The hint, evaluated if it is a string; None if that isn't possible."""
    if not isinstance(hint, str):
        return hint
    try:
        return eval(hint, names, {} if NAME in names else {NAME: Request})
    except Exception:  # whatever the expression raises: Python itself ignores hints
        return None


def _payload(hint: Any, function: Any) -> "ValueType | None":
    origin = getattr(hint, "__origin__", None)
    module = getattr(origin, "__module__", "").partition(".")[0]
    if getattr(origin, "__name__", None) != NAME or module not in ("roost", "roost_executor"):
        return None
    from roost_executor.script.typed_values import Unsupported, value_type

    try:
        return value_type(hint.__args__[0])
    except Exception as error:
        detail = str(error) if isinstance(error, Unsupported) else f"{type(error).__name__}: {error}"
        line = function.__code__.co_firstlineno
        raise ScriptFailure(
            "bad_signature",
            f"line {line}: the payload of `main` can't be read as its type hint says: {detail}",
            line,
            None,
            "TypeError",
        ) from None


def _returned(hint: Any) -> "ValueType | None":
    if hint is None or hint in (str, int, float, bool, dict, list):
        return None
    from roost_executor.script.typed_values import value_type

    try:
        value = value_type(hint)
    except Exception:  # such as a generator's: nothing is said about the value
        return None
    return value if value.is_structured else None


def _schema(value: "ValueType | None") -> "dict[str, Any] | None":
    if value is None:
        return None
    from roost_executor.script.typed_values import schema_of

    try:
        schema = schema_of(value)
        size = len(encode(schema))
    except Exception as error:  # what pydantic raises for a type without a schema, for example
        print(f"roost: a type hint of main has no schema: {type(error).__name__}: {error}", file=sys.stderr)
        return None
    if size > MOST_BYTES:
        print(f"roost: the schema of a type hint of main is larger than {MOST_BYTES:,} bytes", file=sys.stderr)
        return None
    return schema
