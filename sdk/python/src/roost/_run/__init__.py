"""Runs an agent on this machine without a server: the same executor, a local control plane.

`local_run` runs the agent, `plane` serves the executor, `frames` converts its frames to an
Execution, `stores` keeps the stores in a file, `builds` creates the environment.
"""
