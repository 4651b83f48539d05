"""The bound for what a user starts, where there is no control group for it."""

import os
import subprocess
import sys

from executor import PACKAGE

NOBODY = 65534
MORE = 5
TRIES = 40

PROGRAM = f"""
import os, signal, sys, threading
sys.path.insert(0, {str(PACKAGE.parent)!r})
from roost_executor import tasks
tasks.SPARE = 0
if os.getuid() == 0:  # root has no such limit
    os.setuid({NOBODY})
before = tasks.tasks_of(os.getuid())
tasks.bound(tasks.limit_for({MORE}))
children, status = [], "no limit"
for _ in range({TRIES}):
    try:
        child = os.fork()
    except BlockingIOError:
        status = "limit"
        break
    if child == 0:
        signal.pause()
    children.append(child)
try:
    threading.Thread(target=signal.pause, daemon=True).start()
    status += ", a thread more"
except RuntimeError:
    pass
counted = tasks.tasks_of(os.getuid()) - before
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print(status, len(children), counted)
"""


def test_a_user_starts_no_more_than_the_bound() -> None:
    alone = os.getuid() == 0
    command = [getattr(sys, "_base_executable", sys.executable), "-I", "-c", PROGRAM]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    status, started, counted = ended.stdout.rsplit(" ", 2)
    assert status == "limit", ended
    # Of a person's user, other programs may start or end something meanwhile.
    assert int(started) == int(counted) == MORE if alone else int(started) < TRIES, ended
