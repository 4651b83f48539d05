"""The editor's description of `request` and `store` is that of the executor's classes."""

from script_api import CLASSES, FILE, description, text


def test_the_editor_describes_the_classes_of_the_executor() -> None:
    again = "; write it again: python3 src/test/python/executor/script_api.py --write"
    assert FILE.read_text(encoding="utf-8") == text(), f"{FILE.name} differs from the executor's classes{again}"


def test_every_member_is_explained() -> None:
    described = description()
    assert list(described) == [kind.__name__ for kind in CLASSES]
    without = [
        f"{kind}.{name}"
        for kind, found in described.items()
        for name, member in found["members"].items()
        if not member["doc"]
    ]
    assert without == []
    assert (
        described["Store"]["members"]["set"]["signature"] == "(key: str, value: Any, ttl: float | None = None) -> int"
    )
    assert described["Store"]["members"]["transaction"]["signature"] == "(lock: bool = False) -> Transaction"
