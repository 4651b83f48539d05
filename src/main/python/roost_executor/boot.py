"""Starts the runner in the agent's container, whose image contains nothing of Roost.

The text of this file is the argument of `python -I -B -c`, followed by the directory in which the sidecar
publishes the executor's code and by the runner's command line. It waits until the code is there.
"""

import _signal  # built in: nothing to search for
import os
import sys
import time

SECONDS = 120

# The first process of a container ignores signals without a handler.
_signal.signal(_signal.SIGTERM, lambda *_: os._exit(143))
code = sys.argv.pop(1)
if sys.version_info < (3, 9):  # noqa: UP036 - any image may be an agent's
    sys.exit(f"roost: this image has Python {sys.version.split()[0]}; 3.9 or later is required")
end = time.monotonic() + SECONDS
while not os.path.isdir(os.path.join(code, "roost_executor")):
    if time.monotonic() > end:
        sys.exit(f"roost: the sidecar has published no code in {code} for {SECONDS} s")
    time.sleep(0.002)
sys.path.append(code)
from roost_executor.__main__ import main  # noqa: E402

sys.exit(main())
