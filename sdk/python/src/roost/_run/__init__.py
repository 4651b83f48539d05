"""Runs an agent on this machine without a server: the same executor, its own control plane.

`local_run` is the whole of it; `plane` speaks to the executor, `frames` makes the Execution of
what it tells, `stores` keeps the stores in a file, `builds` makes the environment.
"""
