"""A few packages for uv to choose from."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

WHEELS: Mapping[str, list[str]] = {
    "roosttest_tea-1.0": ["roosttest-cup>=1"],
    "roosttest_tea-1.1": ["roosttest-cup>=1"],
    "roosttest_cup-1.0": [],
    "roosttest_cup-2.0": [],
    "roosttest_milk-3.0": [
        "roosttest-tea",
        'roosttest-ice>=1; sys_platform == "win32"',
        'roosttest-sugar; extra == "sweet"',
    ],
    "roosttest_sugar-1.0": [],
}


def make_wheels(directory: Path) -> dict[str, str]:
    """Write the packages below a directory; returns the variables with which uv finds them."""
    wheels = directory / "wheels"
    wheels.mkdir()
    for name, requirements in WHEELS.items():
        metadata = "Metadata-Version: 2.1\nName: {}\nVersion: {}\n".format(*name.split("-"))
        metadata += "Provides-Extra: sweet\n"
        metadata += "".join(f"Requires-Dist: {each}\n" for each in requirements)
        wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        with zipfile.ZipFile(wheels / f"{name}-py3-none-any.whl", "w") as file:
            file.writestr(f"{name}.dist-info/METADATA", metadata)
            file.writestr(f"{name}.dist-info/WHEEL", wheel)
            file.writestr(f"{name}.dist-info/RECORD", "")
    return {"UV_FIND_LINKS": str(wheels), "UV_CACHE_DIR": str(directory / "cache")}
