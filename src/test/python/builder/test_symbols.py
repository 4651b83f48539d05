"""The index of packages for the editor: read from sources, which are never run."""

import base64
import gzip
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from roost_builder import packages, symbols
from roost_builder.symbol_sources import Sources


def write(directory: Path, **files: str) -> Path:
    """Files by their paths, with `__` for a slash: `pkg__mod_py`."""
    for name, text in files.items():
        path = directory / (name.replace("__", "/").replace("_py", ".py").replace("INIT", "__init__"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory


def index(directory: Path, *required: str) -> "dict[str, dict[str, Any]]":
    """The symbols of each module by name."""
    found = symbols.index_of(directory, required, seconds=1e9)["modules"]
    return {module: {symbol["name"]: symbol for symbol in listed} for module, listed in found.items()}


def test_names_are_followed_to_where_they_are_defined(tmp_path: Path) -> None:
    write(
        tmp_path,
        shop__INIT_py='from .cart import Cart, load\nfrom . import tools\nimport os\n_hidden = 1\nVERSION = "1"\n',
        shop__cart_py=(
            'from __future__ import annotations\nfrom .base import Base\nclass Cart(Base):\n    """A cart. More."""\n'
            "    total: int = 0\n    def __init__(self, owner: str) -> None:\n        self.owner = owner\n"
            '    def add(self, item, *, count: int = 1) -> "Cart":\n        """Adds an item."""\n'
            "    @property\n    def items(self) -> list[str]: ...\n    def _private(self): ...\n"
            "    @classmethod\n    def empty(cls) -> Cart: ...\n"
            "def load(path: str | None = None) -> Cart | None:\n    '''Loads\n    a cart.'''\n"
        ),
        shop__base_py="class Base:\n    def save(self): ...\n",
        shop__tools_py="__all__ = ['chosen']\ndef chosen(): ...\ndef other(): ...\n",
        shop__tests__INIT_py="",
    )
    found = index(tmp_path)
    top = found["shop"]
    assert sorted(top) == ["Cart", "VERSION", "base", "cart", "load", "tools"]
    assert top["Cart"] == {
        "name": "Cart", "kind": "class", "signature": "(owner: str)", "doc": "A cart.", "from": "shop.cart.Cart",
    }  # fmt: skip
    assert top["load"] == {
        "name": "load", "kind": "function", "signature": "(path: str | None=None) -> Cart | None",
        "doc": "Loads a cart.", "type": "shop.cart.Cart",
    }  # fmt: skip
    assert top["tools"] == {"name": "tools", "kind": "module", "from": "shop.tools"}
    cart = found["shop.cart"]["Cart"]
    assert cart["bases"] == ["shop.base.Base"]
    members = {member["name"]: member for member in cart["members"]}
    assert sorted(members) == ["add", "empty", "items", "owner", "total"]
    assert members["add"]["signature"] == "(item, *, count: int=1) -> Cart"
    assert members["add"]["type"] == "shop.cart.Cart"
    assert members["empty"]["signature"] == "() -> Cart"
    assert members["items"]["kind"] == "property"
    assert list(found["shop.tools"]) == ["chosen"]


def test_what_a_compiled_library_has_is_read_from_stubs(tmp_path: Path) -> None:
    write(
        tmp_path,
        fast__INIT_py="from ._core import *\nfrom ._core import run\n",
        fast__INIT_pyi="def run(n: int) -> int: ...\n",
    )
    (tmp_path / "fast/_core.cpython-313-x86_64-linux-gnu.so").touch()
    (tmp_path / "single.abi3.so").touch()
    found = index(tmp_path)
    assert found["fast"]["run"]["signature"] == "(n: int) -> int"
    assert Sources(tmp_path).top_level() == ["fast", "single"]


def test_sources_are_not_run_and_bad_ones_are_left_out(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    write(
        tmp_path,
        evil_py=f"open({str(marker)!r}, 'w')\ndef harmless(): ...\n",
        broken_py="def (:\n",
        deep_py="x = " + "(" * 100_000 + "\n",
        loop__INIT_py="from .a import thing\n",
        loop__a_py="from .b import thing\n",
        loop__b_py="from .a import thing\n",
    )
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    found = index(tmp_path)
    assert list(found["evil"]) == ["harmless"]
    assert not marker.exists()
    assert found["broken"] == found["deep"] == {}
    assert found["loop"]["thing"] == {"name": "thing", "kind": "variable"}
    assert "link" not in found


def test_required_packages_come_first_when_time_is_short(tmp_path: Path) -> None:
    write(tmp_path, aaa_py="def a(): ...\n", zzz_py="def z(): ...\n")
    information = tmp_path / "My_Package-1.0.dist-info"
    information.mkdir()
    (information / "RECORD").write_text("zzz.py,,\n")
    assert list(index(tmp_path, "my-package")) == ["zzz", "aaa"]
    short = symbols.index_of(tmp_path, ["my-package"], seconds=0)
    assert short == {"version": 1, "names": ["aaa", "zzz"], "modules": {}}


def test_the_index_is_compressed_and_limited(tmp_path: Path) -> None:
    large = {f"m{n}": [{"name": f"{n:x}{i * 7919:x}", "kind": "variable"} for i in range(300)] for n in range(600)}
    text = symbols.compressed({"version": 1, "names": ["m0"], "modules": large})
    content = base64.b64decode(text)
    kept = json.loads(gzip.decompress(content))["modules"]
    assert len(content) <= symbols.MOST_COMPRESSED_BYTES
    assert 0 < len(kept) < len(large)
    assert list(kept) == list(large)[: len(kept)]


def test_a_build_goes_on_without_an_index(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    (tmp_path / "requirements.txt").write_text("shop==1.0\n")
    monkeypatch.setattr(packages, "INDEXER", tmp_path / "missing.py")
    with packages.indexing(tmp_path, tmp_path / "requirements.txt", tmp_path) as index:
        assert index() is None
    assert capsys.readouterr().out.startswith("The packages were not indexed for the editor: ")


def test_an_index_that_nobody_waits_for_ends_with_the_build(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "requirements.txt").write_text("shop==1.0\n")
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr(packages, "INDEXER", tmp_path / "slow.py")
    began = time.monotonic()
    with pytest.raises(RuntimeError), packages.indexing(tmp_path, tmp_path / "requirements.txt", tmp_path):
        raise RuntimeError("the build fails")
    assert time.monotonic() - began < 300


def test_the_program_writes_the_index(tmp_path: Path) -> None:
    site = write(tmp_path / "site", shop_py="def buy(): ...\n")
    command = [sys.executable, "-I", "-B", str(packages.INDEXER), str(site), str(tmp_path / "out"), "shop"]
    subprocess.run(command, check=True)
    found = json.loads(gzip.decompress(base64.b64decode((tmp_path / "out").read_text())))
    assert found["modules"]["shop"][0]["name"] == "buy"
