"""How long dependencies take to build."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from roost_bench.api import WrongResultError
from roost_bench.context import ADD_ONE, Context
from roost_bench.environment import ROOT
from roost_bench.report import Row, percentile

# Much the same to install, and each a Build of its own.
REQUIREMENTS = [f"Jinja2=={version}\nhttpx==0.28.1" for version in ("3.1.6", "3.1.5", "3.1.4")]
LOOK_SECONDS = 0.01


class Built(NamedTuple):
    """A BuilderJob that has succeeded: how long it took from the order on, and the packages' versions."""

    seconds: float
    reused: bool
    versions: "dict[str, str]"


def build(context: Context, requirements: str) -> Built:
    """Makes an agent and waits until its BuilderJob has succeeded; deletes the agent again."""
    body = json.dumps({"script": ADD_ONE, "requirements": requirements}).encode()
    began = time.perf_counter()
    agent = json.loads(context.http.request("POST", "/agents", body))
    while True:
        job = context.http.get(f"/builder-jobs/{agent['latest_builder_job_id']}")
        if job["finished_at"] is not None:
            break
        time.sleep(LOOK_SECONDS)
    seconds = time.perf_counter() - began
    if job["state"] != "succeeded":
        raise WrongResultError(f"{job['id']} ended as {job['state']}: {job['message']}")
    packages = context.http.get(f"/builds/{job['build_id']}")["packages"]
    versions = {package["name"].lower(): package["version"] for package in packages}
    if not {"jinja2", "markupsafe", "httpx"} <= versions.keys():
        raise WrongResultError(f"the build has only {versions}")
    context.http.request("DELETE", f"/agents/{agent['id']}")
    return Built(seconds, job["reused"], versions)


def install(context: Context, python: str, requirements: str, cache: Path) -> float:
    """Seconds of uv alone, with the settings that a build gives it."""
    sys.path.insert(0, str(ROOT / "src/main/python"))
    from roost_builder.settings import uv_environment

    environment = {**uv_environment(os.environ), "UV_CACHE_DIR": str(cache)}
    with tempfile.TemporaryDirectory(dir=context.directory) as directory:
        target = Path(directory, "venv")
        began = time.perf_counter()
        for command in (
            ["venv", "-q", "--no-project", "--python", python, str(target)],
            ["pip", "install", "-q", "--python", str(target / "bin/python"), *requirements.split()],
        ):
            subprocess.run([context.uv, *command], cwd=directory, env=environment, check=True)
        return time.perf_counter() - began


def measure(context: Context) -> "list[Row]":
    """With nothing there, with all packages in uv's cache, and with the very Build there."""
    with context.agent() as agent:
        python = os.path.realpath(context.interpreter(agent))
    cache = context.directory / "uv-cache"
    measured: dict[str, list[float]] = {"empty": [], "cached": [], "reused": [], "uv empty": [], "uv cached": []}
    for requirements in REQUIREMENTS[: context.sizes.builds]:
        for directory in (cache, context.server.data / "cache/uv"):
            shutil.rmtree(directory, ignore_errors=True)
        first = fresh(context, requirements)
        measured["empty"].append(first.seconds)
        # One more line that changes nothing but the Build's key.
        pinned = f"{requirements}\nMarkupSafe=={first.versions['markupsafe']}"
        measured["cached"].append(fresh(context, pinned).seconds)
        again = build(context, requirements)
        if not again.reused:
            raise WrongResultError("a Build with the same requirements was not reused")
        measured["reused"].append(again.seconds)
        measured["uv empty"].append(install(context, python, requirements, cache))
        measured["uv cached"].append(install(context, python, requirements, cache))
    middle = {name: percentile(seconds, 50) for name, seconds in measured.items()}
    rounds = context.sizes.builds
    uv = "uv venv, uv pip install"
    return [
        Row("uv's cache empty", "s", middle["empty"], rounds=rounds, floor=middle["uv empty"], floor_name=uv),
        Row("packages in uv's cache", "s", middle["cached"], rounds=rounds, floor=middle["uv cached"], floor_name=uv),
        Row("reused", "s", middle["reused"], rounds=rounds),
    ]


def fresh(context: Context, requirements: str) -> Built:
    """A build that must not be a reuse."""
    built = build(context, requirements)
    if built.reused:
        raise WrongResultError("a Build was reused although there was none")
    return built
