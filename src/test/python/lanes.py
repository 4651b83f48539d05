"""Runs all tests: packages, then runs the slow ones in lanes.

    python3 src/test/python/lanes.py [options of Maven]

Packages first, with the unit tests and the static checks; the SDK's unit tests, which need no package, run beside that.
Then three lanes run on what was packaged: the integration tests and the end-to-end tests of the local runtime, the other
Python tests, and the end-to-end tests on Kubernetes. With two
processors for each they all run beside each other, else those on Kubernetes run alone, after the others: their pods take what
processors there are. Each lane writes `target/lanes/NAME.log`, which is printed when the lane has ended; what has failed
is named again at the end. `./mvnw verify` runs the same tests one after the other. Ends with status 1 when any lane has
failed.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from left_out import print_left_out

ROOT = Path(__file__).resolve().parents[3]
MAVEN = [str(ROOT / "mvnw")]
CHECK = [sys.executable, str(ROOT / "src/test/python/check.py")]
JAR = ROOT / "target/quarkus-app/quarkus-run.jar"
LOGS = ROOT / "target/lanes"
POLL_SECONDS = 0.2
PROCESSORS_PER_LANE = 2
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# What Maven and pytest begin the line of a failure with.
FAILURE = re.compile(r"(\[ERROR\] +\S|FAILED |ERROR |Python checks: FAILED)")
FAILURES_SHOWN = 40
LINE_LENGTH = 300


def lanes(options: "list[str]") -> "dict[str, list[str]]":
    """The command of each lane. Without the phases of Maven's life cycle, nothing is compiled or packaged twice."""
    commands = {
        "local": [
            *MAVEN,
            *options,
            "failsafe:integration-test@integration",
            "failsafe:integration-test@local",
            "failsafe:verify@integration",
            "failsafe:verify@local",
        ],
        "python": [*CHECK, "other-tests", "--jar", str(JAR)],
        "kubernetes": [*MAVEN, *options, "failsafe:integration-test@kubernetes", "failsafe:verify@kubernetes"],
    }
    if "-DskipPythonTests" in options:
        del commands["python"]
    return commands


class Lane:
    """One command that runs beside the others."""

    def __init__(self, name: str, command: "list[str]") -> None:
        """Starts it."""
        self.name = name
        self.log = LOGS / f"{name}.log"
        self.status: int | None = None
        self.seconds = 0.0
        self._began = time.monotonic()
        self._idle = idle_seconds()
        self.busy = 0.0
        with self.log.open("wb") as output:
            self._process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)

    def has_ended(self) -> bool:
        """Whether it has ended; takes its status and time."""
        if self._process.poll() is None:
            return False
        self.status = self._process.returncode
        self.seconds = time.monotonic() - self._began
        self.busy = 1 - (idle_seconds() - self._idle) / (self.seconds * (os.cpu_count() or 1))
        return True

    def wait(self) -> None:
        """Waits until it has ended."""
        while not self.has_ended():
            time.sleep(POLL_SECONDS)

    def show(self) -> None:
        """Prints its whole output."""
        print(f"\n=== {self.name}: {self.log.relative_to(ROOT)}", flush=True)
        sys.stdout.buffer.write(self.log.read_bytes())
        sys.stdout.buffer.flush()

    def show_failures(self) -> None:
        """Names what has failed: who reads only the end of a long output sees it."""
        lines = COLOURS.sub("", self.log.read_text(encoding="utf-8", errors="replace")).splitlines()
        failures = [line[:LINE_LENGTH] for line in lines if FAILURE.match(line)]
        print(f"\n=== What has failed in {self.log.relative_to(ROOT)}:")
        print(*failures[:FAILURES_SHOWN] or lines[-FAILURES_SHOWN:], sep="\n")
        if len(failures) > FAILURES_SHOWN:
            print(f"... and {len(failures) - FAILURES_SHOWN} lines more")

    def summary(self) -> str:
        """One line on how it ended."""
        minutes, seconds = divmod(round(self.seconds), 60)
        state = "passed" if self.status == 0 else "FAILED"
        return (
            f"  {self.name:<11} {state}  {minutes}:{seconds:02} min, the machine's processors were {self.busy:.0%} busy"
        )


def idle_seconds() -> float:
    """The time for which this machine's processors have been idle or waited for disks, since its start; see proc(5)."""
    with open("/proc/stat", encoding="ascii") as file:
        _, *times = file.readline().split()
    return (int(times[3]) + int(times[4])) / os.sysconf("SC_CLK_TCK")


def rounds(names: "list[str]", processors: int) -> "list[list[str]]":
    """Which lanes run beside each other, one round after the other."""
    if processors >= PROCESSORS_PER_LANE * len(names):
        return [names]
    alone = [name for name in names if name == "kubernetes"]
    return [group for group in ([name for name in names if name not in alone], alone) if group]


def main(options: "list[str]") -> int:
    """Packages and runs the lanes; 0 when nothing has failed."""
    began = time.monotonic()
    LOGS.mkdir(parents=True, exist_ok=True)
    commands = lanes(options)
    # Packaging keeps one processor busy.
    running = [Lane("sdk", [*CHECK, "sdk"])] if "python" in commands else []
    status = subprocess.run([*MAVEN, *options, "pre-integration-test"], cwd=ROOT, check=False).returncode
    if status:
        for lane in running:
            lane.wait()
        return status
    print(f"\nTo watch a lane: tail -f {os.path.relpath(LOGS)}/NAME.log", flush=True)
    ended: list[Lane] = []
    for names in rounds(list(commands), os.cpu_count() or 1):
        running += [Lane(name, commands[name]) for name in names]
        while running:
            for lane in [lane for lane in running if lane.has_ended()]:
                lane.show()
                running.remove(lane)
                ended.append(lane)
            time.sleep(POLL_SECONDS)
    print_left_out()
    for lane in ended:
        if lane.status:
            lane.show_failures()
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    print("\nLanes:", *[lane.summary() for lane in ended], f"All in {minutes}:{seconds:02} min", sep="\n", flush=True)
    return 1 if any(lane.status for lane in ended) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
