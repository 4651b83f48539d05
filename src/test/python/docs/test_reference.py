"""The reference is what the server, the SDK and the command line say of themselves."""

import re
from pathlib import Path

import reference

ROOT = Path(__file__).resolve().parents[4]
REASONS = {"execution": "execution/ExecutionReason.java", "build": "builds/BuildReason.java"}


def test_the_reference_is_current() -> None:
    names = [str(path.relative_to(ROOT)) for path in reference.outdated()]
    assert not names, "to renew them: python3 src/test/python/tools.py src/test/python/docs/reference.py --write"


def test_the_page_of_troubles_has_a_section_for_each_reason_and_no_other() -> None:
    text = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
    _, executions, builds = re.split(r"^## .*(?:executions|builds).*$", text, flags=re.MULTILINE | re.IGNORECASE)
    for name, part in (("execution", executions), ("build", builds)):
        source = (ROOT / "src/main/java/dev/roost" / REASONS[name]).read_text(encoding="utf-8")
        reasons = re.findall(r"^  ([A-Z_]+)\(", source, re.MULTILINE)
        assert sorted(re.findall(r"^### `(\w+)`", part, re.MULTILINE)) == sorted(each.lower() for each in reasons)
