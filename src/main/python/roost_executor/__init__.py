"""Roost's executor: the sidecar, which talks to the control plane, and the runner, which runs the script.

The protocol is described in docs/executor-link.md. Standard library only, Python 3.9 and later, Linux.
"""

PROTOCOL = 1
