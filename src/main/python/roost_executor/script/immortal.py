"""Objects that a fork can use without a write to them, so that it goes on sharing their memory with its template.

Each use of an object changes its reference count, which is in the object itself; the first such write to a page copies
the page. Immortal objects (PEP 683, Python 3.12 and later) have a count that no use changes. Python makes a few of its
own immortal, such as None. Here functions, classes and modules get the same count: they last as long as their process,
but for rare exceptions, and their end has no effect besides the memory.
"""

import ctypes
import gc
import sys
import sysconfig
import types
from typing import Any

CONSTANTS = (str, bytes, int, float, complex, bool, type(None), type(Ellipsis))
DEFINITIONS = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.CodeType,
    types.CellType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    property,
    classmethod,
    staticmethod,
)


def make_definitions_immortal() -> int:
    """Makes functions, classes and modules of this process immortal, and their names and constants.

    Returns the number of these objects; 0 where Python has no immortal objects. Leaves alone whatever may contain an
    object whose end has an effect, such as a file, which closes.
    """
    if not _has_immortal_objects():
        return 0
    gc.unfreeze()  # or those of the runner's start would not be listed
    immortal = _count_of(None).value
    seen: set[int] = set()
    made = 0
    waiting: list[Any] = [item for item in gc.get_objects() if issubclass(type(item), DEFINITIONS)]
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        count = _count_of(item)
        if count.value < immortal:
            count.value = immortal
            made += 1
        if type(item) not in CONSTANTS:
            waiting.extend(part for part in gc.get_referents(item) if _lasts(part, item))
    return made


def _has_immortal_objects() -> bool:
    """Whether there are some, and objects begin with the lower half of a reference count of 64 bits."""
    return (
        sys.implementation.name == "cpython"
        and sys.version_info >= (3, 12)
        and sys.maxsize > 1 << 32
        and sys.byteorder == "little"
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and not sysconfig.get_config_var("Py_TRACE_REFS")
    )


def _count_of(item: object) -> ctypes.c_uint32:
    return ctypes.c_uint32.from_address(id(item))


def _lasts(part: object, whole: object) -> bool:
    """Whether `part` lasts as long as `whole`, which is immortal. Runs no code of theirs, as isinstance might."""
    kind = type(part)
    if kind is dict:
        return issubclass(type(whole), (type, types.ModuleType))  # their attributes
    return _is_definition_or_constant(part) or (kind is tuple and all(map(_is_definition_or_constant, part)))  # type: ignore[call-overload]


def _is_definition_or_constant(item: object) -> bool:
    kind = type(item)
    return kind in CONSTANTS or issubclass(kind, DEFINITIONS)
