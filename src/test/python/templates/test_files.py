"""The files of each template fit together."""

import ast
import json
import re
from pathlib import Path

import pytest
from world import TEMPLATES

NAMES = json.loads((TEMPLATES / "index.json").read_text())
KEYS = {"title", "summary", "description", "tags", "variables", "uses_store", "payload", "schedule"}
# Where the name of a package isn't that of its module.
MODULES = {"beautifulsoup4": {"bs4"}, "boto3": {"boto3", "botocore"}}


def test_the_index_has_every_directory() -> None:
    assert sorted(NAMES) == sorted(path.name for path in TEMPLATES.iterdir() if path.is_dir())
    assert len(NAMES) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_complete(name: str) -> None:
    directory: Path = TEMPLATES / name
    assert sorted(path.name for path in directory.iterdir()) == ["agent.py", "requirements.txt", "template.json"]
    about = json.loads((directory / "template.json").read_text(encoding="utf-8"))
    assert set(about) == KEYS
    assert about["title"] and about["summary"].endswith(".") and about["description"].endswith(".")
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    script = (directory / "agent.py").read_text(encoding="utf-8")
    tree = ast.parse(script)
    compile(tree, name, "exec")
    main = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    assert (len(main.args.args) == 2) == about["uses_store"]

    imported = {
        (alias.name if isinstance(node, ast.Import) else node.module).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    lines = (directory / "requirements.txt").read_text().splitlines()
    provided = set()
    for line in lines:
        package = re.fullmatch(r"([A-Za-z0-9-]+)(\[[a-z]+\])?==[0-9.]+", line)
        assert package, line
        modules = MODULES.get(package[1], {package[1].replace("-", "_")})
        assert modules & imported, f"{line} isn't imported"
        provided |= modules
    standard = {"collections", "datetime", "decimal", "difflib", "hashlib", "hmac", "io", "json", "math", "os", "re"}
    standard |= {"tempfile", "time", "urllib", "uuid"}
    assert imported <= provided | standard

    variables = {variable["name"] for variable in about["variables"]}
    read = set(re.findall(r'environ(?:\.get\(|\[)"([A-Z0-9_]+)"', script))
    assert {v["name"] for v in about["variables"] if v["required"]} <= read | {
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_DEFAULT_REGION",
    }
    assert read <= variables | {"GITHUB_API"}
