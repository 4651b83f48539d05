"""From nothing to the first return value, by each way in: each line of a recipe is one command."""

import json
import os
import resource
import subprocess
import tempfile
import time
import venv
from pathlib import Path

from roost_bench.context import Context
from roost_bench.environment import ROOT
from roost_bench.report import Row, percentile

SCRIPT = """\
import humanize


def main(request):
    return humanize.intword(request.payload["n"])
"""
PAYLOAD = '{"n": 8200000000}'
VALUE = "8.2 billion"
START_ROUNDS = 10
CURL = '-H "Authorization: Bearer $ROOST_API_KEY" -H "Content-Type: application/json"'

CREATE_AND_EXECUTE = """\
import sys
from pathlib import Path

import roost

agent = roost.Agent.create(script=Path("agent.py").read_text(), requirements=sys.argv[1])
print(agent.execute({"n": 8200000000}, check=True).return_value)
"""

# Another version for each way, so that none finds the environment of another.
WAYS = {
    "REST, with curl": (
        "humanize==4.12.1",
        [
            f"AGENT=$(curl -s $ROOST_URL/v1/agents {CURL} -d \"$BODY\" | grep -o 'agent_[0-9a-z]*' | head -1)",
            f'curl -s "$ROOST_URL/v1/agents/$AGENT/execute?wait=60" {CURL} -d \'{{"payload": {PAYLOAD}}}\'',
        ],
    ),
    "Python": ("humanize==4.12.2", ["python first.py $REQUIREMENT"]),
    "command line, deployed": (
        "humanize==4.12.3",
        ["roost deploy agent.py", f"roost execute agent --payload '{PAYLOAD}'"],
    ),
    "command line, without a server": ("humanize==4.13.0", [f"roost run agent.py --payload '{PAYLOAD}'"]),
}


def measure(context: Context) -> "list[Row]":
    """The seconds of each way's commands, beside the time that pip takes to install the SDK."""
    with tempfile.TemporaryDirectory(dir=context.directory) as directory:
        home = Path(directory)
        venv.create(home / "venv", with_pip=True)
        began = time.perf_counter()
        install = [home / "venv/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*install, f"{ROOT / 'sdk/python'}[cli]"], check=True)
        rows = [
            Row("pip install of SDK and command line", "s", time.perf_counter() - began, rounds=1, note="1 command")
        ]
        rows += [go(context, home, name, *way) for name, way in WAYS.items()]
        rows += starts(context, home / "venv/bin")
    return rows


def starts(context: Context, programs: Path) -> "list[Row]":
    """The processor time of importing the SDK and of a short command, beside a Python that does nothing."""
    python = programs / "python"
    floor = processor_time(context, [python, "-c", "pass"])
    commands = {
        "import roost": [python, "-c", "import roost; roost.Agent"],
        "a client": [python, "-c", "import roost; roost.Client()"],
        "roost --help": [programs / "roost", "--help"],
        "roost list agents": [programs / "roost", "list", "agents"],
    }
    return [
        Row(
            f"processor time: {name}",
            "s",
            processor_time(context, command),
            rounds=START_ROUNDS,
            floor=floor,
            floor_name="python -c pass",
        )
        for name, command in commands.items()
    ]


def processor_time(context: Context, command: "list[object]") -> float:
    """The median of some rounds; the first one, which writes bytecode, is left out."""
    environment = {**os.environ, "ROOST_URL": context.server.url, "ROOST_API_KEY": context.server.key}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    seconds = []
    for _ in range(START_ROUNDS + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(list(map(str, command)), env=environment, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return percentile(seconds[1:], 50)


def go(context: Context, home: Path, name: str, requirement: str, commands: "list[str]") -> Row:
    """One way, from the script on disk to the value on the terminal."""
    directory = home / name.replace(" ", "-").replace(",", "")
    directory.mkdir()
    header = f'# /// script\n# dependencies = ["{requirement}"]\n# ///\n'
    (directory / "agent.py").write_text(header + SCRIPT, encoding="utf-8")
    (directory / "first.py").write_text(CREATE_AND_EXECUTE, encoding="utf-8")
    body = json.dumps({"requirements": requirement, "script": SCRIPT})
    environment = {
        **os.environ,
        "PATH": f"{home / 'venv/bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "ROOST_URL": context.server.url,
        "ROOST_API_KEY": context.server.key,
        "REQUIREMENT": requirement,
        "BODY": body,
    }
    began = time.perf_counter()
    ended = subprocess.run(
        ["bash", "-ec", "\n".join(commands)],
        cwd=directory,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - began
    if ended.returncode or VALUE not in ended.stdout:
        raise RuntimeError(f"{name}: {ended.stdout}\n{ended.stderr}")
    return Row(name, "s", seconds, rounds=1, note=f"{len(commands)} command{'s' if len(commands) > 1 else ''}")
