"""Immortal definitions: a fork uses them without a copy of their memory, and everything else ends as always."""

import json
import subprocess
import sys
from typing import Any

import pytest
from executor import PACKAGE, PYTHON

sys.path.insert(0, str(PACKAGE.parent))
from roost_executor.script import immortal  # noqa: E402

HAS_IMMORTAL_OBJECTS = json.loads(
    subprocess.check_output([PYTHON, "-c", "import sys; print(str(sys.version_info >= (3, 12)).lower())"])
)
only_with_immortal_objects = pytest.mark.skipif(
    not HAS_IMMORTAL_OBJECTS, reason="this Python, older than 3.12, has no immortal objects"
)


def run(script: str) -> Any:
    """What a script for a process of its own prints, as JSON: what is immortal once is so for good."""
    before = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n"
    before += "from roost_executor.script.immortal import make_definitions_immortal\n"
    return json.loads(subprocess.check_output([PYTHON, "-I", "-c", before + script], timeout=60))


@only_with_immortal_objects
def test_a_fork_copies_less_memory() -> None:
    """The functions are on many pages; each call of one writes to its page, unless it is immortal."""
    script = """
import gc, json, os, resource

lines = []
for number in range(20_000):
    lines.append(f"def f{number}(): return C{number}")
    lines.append(f"class C{number}: pass")
exec("\\n".join(lines))
functions = [globals()[f"f{number}"] for number in range(20_000)]
names = [f"C{number}" for number in range(20_000)]

def copied_pages():
    gc.freeze()
    reader, writer = os.pipe()
    if os.fork() == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for function in functions:
            function()
        os.write(writer, b"%d" % (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before))
        os._exit(0)
    os.wait()
    return int(os.read(reader, 100))

mortal = copied_pages()
made = make_definitions_immortal()
print(json.dumps([mortal, copied_pages(), made]))
"""
    mortal, copied, made = run(script)
    assert made > 40_000
    assert copied < mortal / 4, (mortal, copied)


def test_the_end_of_other_objects_has_its_effect() -> None:
    """Where functions and classes lead to a file, its end still closes it."""
    script = """
import functools, gc, json, os, types, weakref

class Resource:
    ended = []
    def __init__(self, name): self.name = name
    def __del__(self): Resource.ended.append(self.name)

held = Resource("of a module")
in_tuple = (1, Resource("in a tuple"))
in_list = [Resource("in a list")]
in_dict = {"x": Resource("in a dictionary")}
partial = functools.partial(print, Resource("of a partial function"))
def function(default=Resource("a default")): return default
def closure():
    inner = Resource("of a closure")
    def use(): return inner
    return use
use = closure()
class Holder:
    of_class = Resource("of a class")
instance = Holder()
instance.own = Resource("of an instance")
reference = weakref.ref(instance)

made = make_definitions_immortal()
del held, in_tuple, partial
in_list.clear(); in_dict.clear()
function.__defaults__ = None
use.__closure__[0].cell_contents = None
del Holder.of_class
del instance
gc.collect()
print(json.dumps([sorted(Resource.ended), reference() is None]))
"""
    expected = ["a default", "in a dictionary", "in a list", "in a tuple", "of a class", "of a closure"]
    expected += ["of a module", "of a partial function", "of an instance"]
    assert run(script) == [expected, True]


def test_no_code_of_an_object_runs() -> None:
    """A stand-in may answer for another object's class, or import what it stands for, when it is asked."""
    script = """
import json, sys, types
asked = []
class StandIn(types.ModuleType):
    @property
    def __class__(self): asked.append("class"); raise RuntimeError("not yet")
    def __getattribute__(self, name): asked.append(name); raise RuntimeError("not yet")
class Meta(type):
    def __instancecheck__(cls, item): asked.append("instance"); return True
    def __subclasscheck__(cls, item): asked.append("subclass"); return True
class Other(metaclass=Meta): pass
module = sys.modules["stand_in"] = StandIn("stand_in")
make_definitions_immortal()
print(json.dumps(asked))
"""
    assert run(script) == []


@pytest.mark.parametrize(
    "change",
    [
        {"implementation": "pypy"},
        {"version_info": (3, 11, 9)},
        {"maxsize": (1 << 31) - 1},
        {"byteorder": "big"},
    ],
    ids=str,
)
def test_nothing_changes_where_objects_have_another_form(
    monkeypatch: pytest.MonkeyPatch, change: "dict[str, Any]"
) -> None:
    for name, value in change.items():
        if name == "implementation":
            monkeypatch.setattr(sys.implementation, "name", value)
        else:
            monkeypatch.setattr(sys, name, value)
    before = sys.getrefcount(run)
    assert immortal.make_definitions_immortal() == 0
    assert sys.getrefcount(run) == before
