"""Are packages the same in a fork of a template as in a process of their own?

    python packages.py [--install] ENVIRONMENT [NAME...]

Executes a snippet for each of the packages in `packages.txt` three times in one executor, whose first execution imports
the package itself while later ones are forked from its template, and compares the results. Prints what was preloaded,
what was left out and why. ENVIRONMENT is a virtual environment with the packages; --install creates it (10 minutes and
4 GB where nothing is cached). Exits with 1 if a result differs, an execution fails or hangs.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[1])]

from executor import Executor  # noqa: E402

LIST = Path(__file__).with_name("packages.txt")
SECONDS = 120


def packages() -> "list[tuple[str, str]]":
    """(requirement, snippet) of each; a snippet's last line is an expression."""
    found = []
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            requirement, _, snippet = line.partition(" | ")
            found.append((requirement, snippet))
    return found


def script_of(snippet: str) -> str:
    """A script that returns the snippet's value as text."""
    *statements, expression = snippet.split("; ")
    imports = [statement for statement in statements if statement.startswith(("import ", "from "))]
    others = [statement for statement in statements if statement not in imports]
    body = "".join(f"    {statement}\n" for statement in others)
    return "".join(f"{line}\n" for line in imports) + f"def main():\n{body}    return repr({expression})\n"


def compare(python: str, requirement: str, snippet: str) -> "tuple[bool, str]":
    """Whether all results are the same, and a line about it."""
    with tempfile.TemporaryDirectory() as directory:
        executor = Executor(Path(directory, "executor"), runner=python)
        try:
            changes = {"agent": {"preload": {"modules": None}}, "memory_mib": 2048, "timeout_seconds": float(SECONDS)}
            results = [executor.run(script_of(snippet), **changes)]
            if results[0].last["type"] != "returned":
                return False, f"can't be executed at all: {results[0].last['message']}"
            executor.plane.wait_for(lambda: executor.plane.preloaded, SECONDS)
            results += [executor.run("", **changes) for _ in range(2)]
            report = executor.plane.preloaded[-1]
        finally:
            executor.close()
    values = {result.last.get("value") or str(result.last.get("message")) for result in results}
    output = {tuple(result.lines) for result in results}
    cpu = [result.last["usage"]["cpu_seconds"] * 1000 for result in results]
    left_out = "; ".join(f"{item['module']} {item['reason']}" for item in report["left_out"][:3])
    line = f"{len(report['modules']):5} modules, {cpu[0]:6.0f} ms of CPU, then {min(cpu[1:]):5.0f} ms"
    line += f"; left out {len(report['left_out'])}: {left_out}" if left_out else ""
    if len(values) > 1 or len(output) > 1:
        return False, f"{line}\n    DIFFERENT: {sorted(values)} {sorted(output)}"
    return True, line


def main() -> int:
    """Compares all, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("environment", type=Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    python = str(arguments.environment / "bin/python")
    chosen = [one for one in packages() if not arguments.names or one[0] in arguments.names]
    if arguments.install:
        subprocess.run([sys.executable, "-m", "venv", arguments.environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *(name for name, _ in chosen)], check=True)
    different = []
    for requirement, snippet in chosen:
        same, line = compare(python, requirement, snippet)
        print(f"{requirement:24} {line}", flush=True)
        if not same:
            different.append(requirement)
    print(f"{len(chosen)} packages, {len(different)} different: {', '.join(different) or 'none'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
