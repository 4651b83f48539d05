"""Starting the runner from the sidecar (the local runtime)."""

import os

from roost_executor import PACKAGE_DIRECTORY
from roost_executor.files import truncate_when_large
from roost_executor.temporary import link_temporary

PRIVATE_PREFIXES = ("ROOST_", "QUARKUS_")


def spawn_runner(python: str, directory: str, sockets: str, options: "dict[str, str]", bundle: str) -> int:
    """Starts the runner with the interpreter `python`, its output going to `agent.log`; returns its process id.

    `options`: further ones of the runner's. `bundle`: for the files of the agent's project.
    What the control plane was configured with (its `ROOST_*` and `QUARKUS_*` variables may hold
    passwords) stays out of the runner's environment, hence out of the script's reach.
    Raises OSError when the interpreter can't be started.
    """
    link_temporary(directory)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE_PREFIXES)}
    log = os.open(os.path.join(directory, "agent.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        truncate_when_large(log)
        options = dict(options)
        around: list[str] = []
        parent = os.getpid()
        if '"bubblewrap"' in options.get("sandbox", ""):
            around = _around(python, directory, options, bundle)
            parent = 1  # in the runner's namespace, bubblewrap itself
        # posix_spawn instead of subprocess, whose import costs as much as the runner's whole start.
        return os.posix_spawn(
            around[0] if around else python,
            [*around, python, "-I", "-B", PACKAGE_DIRECTORY, "runner", "--directory", directory]
            + ["--sockets", sockets, "--parent", str(parent)]
            + [f"--{name}={value}" for name, value in options.items()],
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ],
        )
    finally:
        os.close(log)


def _around(python: str, directory: str, options: "dict[str, str]", bundle: str) -> "list[str]":
    """The command of bubblewrap that the runner is started by; takes from `options` what that does itself."""
    import json

    from roost_executor.bubblewrap import command

    sandbox = json.loads(options["sandbox"])
    prefixes = [os.path.dirname(os.path.dirname(path)) for path in (os.path.abspath(python), os.path.realpath(python))]
    links = [(os.path.realpath(os.environ["TMPDIR"]), os.environ["TMPDIR"])]
    return command(
        sandbox["bubblewrap"],
        sandbox.get("private", []),
        [directory, *sandbox.get("writable", [])],
        [*prefixes, os.path.dirname(PACKAGE_DIRECTORY), bundle, *sandbox.get("readable", [])],
        links,
        options.pop("group", None),
    )
