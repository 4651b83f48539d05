"""Command line: `python -I -B -m roost_executor sidecar|runner …`, or the same with this directory's path."""

import os
import signal
import sys

OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__))

# Started with -B, which is for the script's sake: the environment that it imports from stays as it was
# built. The executor's own modules are compiled once, where their directory may be written to. `Child` sets it back.
sys.dont_write_bytecode = not os.access(OWN_DIRECTORY, os.W_OK)

if not __package__:
    # Started by path (`python -I -B …/roost_executor`): the parent directory makes the package
    # importable. It goes last, so that it can't hide a module of the script's.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != OWN_DIRECTORY]
    sys.path.append(os.path.dirname(OWN_DIRECTORY))

USAGE = """\
usage: roost_executor sidecar OPTIONS    the link to the control plane
         --url URL              the control plane's internal address
         --executor ID          this executor's id
         --token-file FILE      holds the first bearer token
         --directory DIR        this process's own directory
         [--ca-file FILE]       the authorities by which to know the control plane (default: the system's)
         [--sockets DIR]        where the two processes meet (default: --directory)
         [--publish-code DIR]   copy this package into DIR first of all, for the runner
         [--runner PYTHON]      start the runner with this Python interpreter
         [--parent PID]         be killed when this parent process ends
         [--sandbox JSON]       the runner's
         [--group FILE]         the runner's
       roost_executor runner OPTIONS     runs the script, in a fork for each execution
         --directory DIR        this process's own directory
         [--sockets DIR]        where the two processes meet (default: --directory)
         [--parent PID]         end when this is no longer the parent process
         [--clean DIR[:DIR…]]   what executions leave in these too, which are this container's alone, is removed
         [--sandbox JSON]       confine scripts: {"readable": [PATH, …], "writable": […], "private": […]}
         [--group FILE]         join that control group (its cgroup.procs), which bounds processes
       roost_executor probe OPTIONS      prints as JSON what can confine scripts on this machine
         [--bubblewrap FILE]    inside of that program
"""
COMMANDS = {
    "sidecar": (
        ("url", "executor", "token-file", "directory"),
        ("ca-file", "sockets", "publish-code", "runner", "parent", "sandbox", "group"),
    ),
    "runner": (("directory",), ("sockets", "parent", "clean", "sandbox", "group")),
    "probe": ((), ("bubblewrap",)),
}


def main() -> int:
    """Runs one of the two processes and returns its exit status."""
    command, options = _options(sys.argv[1:])
    if command == "probe":
        from roost_executor.probe import print_probe

        print_probe(options.get("bubblewrap"))
        return 0
    if os.getpid() == 1:
        # The first process of a container: what has no handler yet would be ignored.
        signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
    if "publish-code" in options:
        from roost_executor.publish import publish

        publish(options["publish-code"])
    if os.getpgrp() != os.getpid():
        os.setsid()
    os.makedirs(options["directory"], exist_ok=True)
    directory = os.path.realpath(options["directory"])
    sockets = os.path.realpath(options.get("sockets", directory))
    if command == "runner":
        if "group" in options:
            with open(options["group"], "wb", buffering=0) as group:
                group.write(b"0")  # whoever writes
        from roost_executor.runner import Runner

        own: tuple[str, ...] = ()
        if "sandbox" in options:
            from roost_executor import sandbox

            own = sandbox.set_up(options["sandbox"], runner=True)

        parent = int(options["parent"]) if "parent" in options else None
        clean = tuple(options["clean"].split(":")) if "clean" in options else ()
        return Runner(directory, sockets, parent, clean, own).run()
    if "parent" in options:
        from roost_executor.linux import die_with

        die_with(int(options["parent"]))
    runner_id = None
    if "runner" in options:
        from roost_executor.spawn import spawn_runner

        # Before the heavier imports, so that both processes start side by side.
        shared = {name: options[name] for name in ("sandbox", "group") if name in options}
        runner_id = spawn_runner(options["runner"], directory, sockets, shared)
    from roost_executor.sidecar import Sidecar

    url, executor, token_file = options["url"], options["executor"], options["token-file"]
    ca_file = options.get("ca-file")
    return Sidecar(url, executor, token_file, directory, sockets, runner_id, "sandbox" in options, ca_file).run()


def _options(arguments: "list[str]") -> "tuple[str, dict[str, str]]":
    """The command and its options, given as `--name value` or `--name=value`; ends the process when they're wrong.

    argparse would take a quarter of the time in which an executor starts.
    """
    command = arguments[0] if arguments else ""
    if command in ("-h", "--help"):
        sys.stdout.write(USAGE)
        sys.exit(0)
    if command not in COMMANDS:
        _wrong("the first argument is sidecar or runner")
    required, optional = COMMANDS[command]
    options: dict[str, str] = {}
    rest = iter(arguments[1:])
    for argument in rest:
        name, equals, value = argument.partition("=")
        if not name.startswith("--") or name[2:] not in required + optional:
            _wrong(f"{command} doesn't know {name}")
        options[name[2:]] = value if equals else next(rest, "")
        if not options[name[2:]]:
            _wrong(f"{name} wants a value")
    missing = [name for name in required if name not in options]
    if missing:
        _wrong(f"{command} wants --{missing[0]}")
    return command, options


def _wrong(message: str) -> None:
    sys.stderr.write(f"{USAGE}roost_executor: {message}\n")
    sys.exit(2)


if __name__ == "__main__":
    sys.exit(main())
