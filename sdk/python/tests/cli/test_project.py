"""What a script's header and a `roost.toml` say, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost._cli.project import FromEnvironment, Project, ProjectError

SCRIPT = """\
#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "Jinja2==3.1.4",  # templates
#   'requests[socks]==2.32.3 ; python_version < "3.12"',
# ]
#
# [tool.roost]
# name = "greeter"
# timeout = 30
# stores = ["people"]
# env_vars = { GREETING = "Hello", TOKEN = { from_env = "THE_TOKEN" } }
#
# [[tool.roost.schedules]]
# cron = "0 9 * * MON-FRI"
# time_zone = "Europe/Berlin"
# payload = { name = "Ada" }
# ///


def main(request, store):
    return "hello"
"""


def write(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def errors(path: Path) -> list[str]:
    with pytest.raises(ProjectError) as error:
        Project.read(path)
    return str(error.value).splitlines()


def test_a_header_is_a_whole_agent(tmp_path: Path) -> None:
    path = write(tmp_path, "hello.py", SCRIPT)
    agent = Project.read(path).agent()
    assert agent.name == "greeter"
    assert agent.text == SCRIPT
    assert agent.requirements == (
        "Jinja2==3.1.4",
        'requests[socks]==2.32.3 ; python_version < "3.12"',
    )
    assert agent.settings == {"timeout": 30}
    assert agent.stores == ["people"]
    assert agent.env_vars == {"GREETING": "Hello", "TOKEN": FromEnvironment("THE_TOKEN")}
    assert agent.schedules == [
        {"cron": "0 9 * * MON-FRI", "time_zone": "Europe/Berlin", "payload": {"name": "Ada"}}
    ]
    assert agent.variables({"THE_TOKEN": "t"}) == {"GREETING": "Hello", "TOKEN": "t"}


def test_a_variable_that_is_not_there_is_named(tmp_path: Path) -> None:
    agent = Project.read(write(tmp_path, "hello.py", SCRIPT)).agent()
    with pytest.raises(ProjectError, match=r"`TOKEN` is taken from .* THE_TOKEN, which is not set"):
        agent.variables({})


def test_a_script_without_a_header_has_the_name_of_its_file(tmp_path: Path) -> None:
    agent = Project.read(write(tmp_path, "hello.py", "def main():\n    pass\n")).agent()
    assert (agent.name, agent.requirements, agent.stores) == ("hello", (), None)


def test_all_mistakes_of_a_header_are_reported_with_their_lines(tmp_path: Path) -> None:
    wrong = (
        SCRIPT.replace("Jinja2==3.1.4", "Jinja2>=three")
        .replace("# timeout = 30", '# timout = 30\n# memory = "much"')
        .replace("GREETING", "ROOST_GREETING")
        .replace("time_zone", "timezone")
    )
    path = write(tmp_path, "hello.py", wrong)
    assert errors(path) == [
        f'{path}:5: ">=three" is not a version. Write Jinja2==1.2.3, say.',
        f"{path}:11: unknown key `timout`; did you mean `timeout`?",
        f"{path}:12: `memory` must be an integer",
        f"{path}:14: ROOST_GREETING: names that begin with ROOST_ are reserved",
        f"{path}:18: unknown key `timezone`; did you mean `time_zone`?",
    ]


@pytest.mark.parametrize(
    ("header", "line", "message"),
    [
        ("# /// script\n# name = \n# ///\n", 2, "not TOML: Invalid value"),
        ("# /// script\n# tool.a = 1\n", 1, "the block `# /// script` is not closed"),
        ("# /// script\n# ///\n# /// script\n# ///\n", 3, "there is a second block"),
        (
            "# /// script\n# depndencies = []\n# ///\n",
            2,
            "unknown key `depndencies`; did you mean `dependencies`?",
        ),
        ('# /// script\n# dependencies = "x"\n# ///\n', 2, "`dependencies` must be a list"),
        (
            "# /// script\n# requires-python = 3\n# ///\n",
            2,
            "`requires-python` must be a specifier",
        ),
        ("# /// script\n# [tool]\n# roost = 1\n# ///\n", 3, "`tool.roost` must be a table"),
        (
            '# /// script\n# tool.roost.preload = "on"\n# ///\n',
            2,
            '`preload` must be "auto" or "off"',
        ),
        ("# /// script\n# tool.roost.schedules = [{}]\n# ///\n", 2, "a schedule needs a `cron`"),
    ],
)
def test_a_wrong_header_is_reported_with_its_line(
    tmp_path: Path, header: str, line: int, message: str
) -> None:
    path = write(tmp_path, "hello.py", header + "def main():\n    pass\n")
    (error,) = errors(path)
    assert error.startswith(f"{path}:{line}: {message}")


def test_other_blocks_and_other_tools_mean_nothing(tmp_path: Path) -> None:
    text = "# /// other\n# what = ever\n# ///\n# /// script\n# tool.uv.x = 1\n# ///\n"
    assert Project.read(write(tmp_path, "hello.py", text)).agent().name == "hello"


def test_a_toml_describes_several_agents_and_overrides_headers(tmp_path: Path) -> None:
    write(tmp_path, "greeter.py", SCRIPT)
    write(tmp_path, "other.py", "def main(): pass\n")
    write(tmp_path, "packages.txt", "# for text\nJinja2==3.1.6\n\n")
    write(tmp_path, "other.env", 'A=from the file\nB="kept"\n')
    toml = """\
[agents.greeter]
script = "greeter.py"
timeout = 60

[agents.second]
script = "other.py"
requirements = "packages.txt"
env_file = "other.env"
env_vars = { A = "given" }
"""
    project = Project.read(write(tmp_path, "roost.toml", toml).parent)
    greeter, second = project.agent("greeter"), project.agent("second")
    assert (greeter.settings, greeter.stores) == ({"timeout": 60}, ["people"])
    assert second.requirements == ("Jinja2==3.1.6",)
    assert second.env_vars == {"A": "given", "B": '"kept"'}
    assert [file.name for file in second.files] == [
        "roost.toml",
        "other.py",
        "packages.txt",
        "other.env",
    ]
    with pytest.raises(ProjectError, match="there is no agent `gretter`; did you mean `greeter`"):
        project.agent("gretter")


def test_mistakes_of_a_toml_have_their_lines(tmp_path: Path) -> None:
    write(tmp_path, "other.py", "def main(): pass\n")
    toml = """\
[agent.typo]
[agents.one]
script = "missing.py"
[agents.two]
timeout = 1
[agents.three]
script = "other.py"
requirements = [
  "one==1",
  "two @ here",
]
"""
    path = write(tmp_path, "roost.toml", toml)
    assert errors(path) == [
        f"{path}:1: unknown key `agent`; write an agent as a table [agents.NAME]",
        f"{path}:3: there is no file {tmp_path / 'missing.py'}",
        f'{path}:4: [agents.two] needs a `script`, such as script = "two.py"',
        f'{path}:10: "two @ here" points to a URL or path. Write a version, such as two>=1.2.',
    ]


def test_the_python_is_the_default_that_the_header_allows_else_the_newest(tmp_path: Path) -> None:
    agent = Project.read(write(tmp_path, "hello.py", SCRIPT)).agent()
    assert agent.python_among(["3.9", "3.12", "3.13", "3.14"], "3.13") == "3.13"
    assert agent.python_among(["3.9", "3.12", "3.11"], "3.9") == "3.12"
    with pytest.raises(
        ProjectError, match=r"requires-python is '>=3.11'; available versions: 3.9, 3.10"
    ):
        agent.python_among(["3.9", "3.10"], "3.9")


@pytest.mark.parametrize(
    ("specifier", "allowed"),
    [
        (">=3.11.4", ["3.11", "3.12", "3.13"]),
        (">=3.10,<3.12", ["3.10", "3.11"]),
        ("==3.12.*", ["3.12"]),
        ("!=3.12.*,>3.10", ["3.10", "3.11", "3.13"]),
        ("~=3.11", ["3.11", "3.12", "3.13"]),
        ("~=3.11.2", ["3.11"]),
    ],
)
def test_specifiers_of_python(tmp_path: Path, specifier: str, allowed: list[str]) -> None:
    text = f'# /// script\n# requires-python = "{specifier}"\n# ///\n'
    agent = Project.read(write(tmp_path, "hello.py", text)).agent()
    for version in ["3.9", "3.10", "3.11", "3.12", "3.13"]:
        if version in allowed:
            assert agent.python_among([version], None) == version
        else:
            with pytest.raises(ProjectError):
                agent.python_among([version], None)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "hello.py"
    path.write_bytes(b"# \xff")
    assert errors(path) == [f"{path}: byte 2 is not UTF-8; save the file as UTF-8"]
    assert errors(tmp_path / "none.py") == [f"{tmp_path / 'none.py'}: No such file or directory"]
