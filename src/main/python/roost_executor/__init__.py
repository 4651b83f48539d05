"""Roost's executor: the sidecar, which talks to the control plane, and the runner, which runs the script.

    sidecar   polls for work, sends frames, serves DataStores
    runner    forks a process for each execution and enforces its limits
    script    that process: imports the script, calls `main`, has the stores
    wire      what crosses between processes: sockets, the control pipe, times

`sidecar` and `script` import from `wire`, `runner` also from `script`, and all from the modules beside this one.
The protocol is described in docs/executor-link.md. Standard library only, Python 3.9 and later, Linux.
"""

import os

PROTOCOL = 1
PACKAGE_DIRECTORY = os.path.dirname(os.path.abspath(__file__))
