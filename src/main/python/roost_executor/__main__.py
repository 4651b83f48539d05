"""Command line: `python -I -B -m roost_executor sidecar|runner …`, or the same with this directory's path."""

import os
import signal
import sys

OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__))

# -B is for the script: the environment that it imports from stays unchanged. The executor's own modules are compiled
# once, where their directory is writable. `Child` sets this back.
sys.dont_write_bytecode = not os.access(OWN_DIRECTORY, os.W_OK)

if not __package__:
    # Started by path (`python -I -B …/roost_executor`): the parent directory makes the package
    # importable. It comes last on the path, so that it hides no module of the script.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != OWN_DIRECTORY]
    sys.path.append(os.path.dirname(OWN_DIRECTORY))

USAGE = """\
usage: roost_executor sidecar OPTIONS    the link to the control plane
         --url URL              the control plane's internal address
         --executor ID          this executor's id
         --token-file FILE      holds the first bearer token
         --directory DIR        this process's own directory
         [--ca-file FILE]       certificate authorities of the control plane (default: the system's)
         [--sockets DIR]        the directory of the sockets between the two (default: --directory)
         [--publish-code DIR]   first copy this package into DIR, for the runner
         [--runner PYTHON]      start the runner with this Python interpreter
         [--parent PID]         killed when this parent process ends
         [--bundle DIR]         for the files of the agent's project (default: --directory/bundle); the runner must
                                be able to read it under the same path
         [--sandbox JSON]       passed to the runner
         [--group FILE]         passed to the runner
       roost_executor runner OPTIONS     runs the script, in a fork for each execution
         --directory DIR        this process's own directory
         [--sockets DIR]        the directory of the sockets between the two (default: --directory)
         [--parent PID]         exit when this is no longer the parent process
         [--clean DIR[:DIR…]]   remove what executions leave in these directories of this container
         [--sandbox JSON]       confine scripts: {"readable": [PATH, …], "writable": […], "private": […]}
         [--group FILE]         join the control group with this cgroup.procs, which limits processes
       roost_executor probe OPTIONS      print as JSON how scripts can be confined on this machine
         [--bubblewrap FILE]    inside this program
"""
COMMANDS = {
    "sidecar": (
        ("url", "executor", "token-file", "directory"),
        ("ca-file", "sockets", "publish-code", "runner", "parent", "bundle", "sandbox", "group"),
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
        # The first process of a container ignores signals without a handler.
        signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
    if "publish-code" in options:
        from roost_executor.sidecar.publish import publish

        publish(options["publish-code"])
    if os.getpgrp() != os.getpid():
        os.setsid()
    os.makedirs(options["directory"], exist_ok=True)
    directory = os.path.realpath(options["directory"])
    sockets = os.path.realpath(options.get("sockets", directory))
    if command == "runner":
        if "group" in options:
            with open(options["group"], "wb", buffering=0) as group:
                group.write(b"0")  # the writing process
        from roost_executor.runner.runner import Runner

        own: tuple[str, ...] = ()
        if "sandbox" in options:
            from roost_executor import sandbox

            own = sandbox.set_up(options["sandbox"], runner=True)

        parent = int(options["parent"]) if "parent" in options else None
        clean = tuple(options["clean"].split(":")) if "clean" in options else ()
        return Runner(directory, sockets, parent, clean, own).run()
    if "parent" in options:
        from roost_executor.linux import die_with_parent

        die_with_parent(int(options["parent"]))
    bundle = os.path.realpath(options.get("bundle", os.path.join(directory, "bundle")))
    runner_id = None
    if "runner" in options:
        from roost_executor.sidecar.spawn import spawn_runner

        # Before the heavier imports, so that both processes start side by side.
        if "bundle" in options:
            os.makedirs(bundle, exist_ok=True)  # bubblewrap shows what is there
        shared = {name: options[name] for name in ("sandbox", "group") if name in options}
        runner_id = spawn_runner(options["runner"], directory, sockets, shared, bundle)
    from roost_executor.sidecar.sidecar import Sidecar

    url, executor, token_file = options["url"], options["executor"], options["token-file"]
    ca_file = options.get("ca-file")
    confined = "sandbox" in options
    return Sidecar(url, executor, token_file, directory, sockets, runner_id, confined, ca_file, bundle).run()


def _options(arguments: "list[str]") -> "tuple[str, dict[str, str]]":
    """The command and its options, given as `--name value` or `--name=value`; exits with a message when they are wrong.

    argparse would take a quarter of the time in which an executor starts.
    """
    command = arguments[0] if arguments else ""
    if command in ("-h", "--help"):
        sys.stdout.write(USAGE)
        sys.exit(0)
    if command not in COMMANDS:
        _wrong("the first argument must be sidecar, runner or probe")
    required, optional = COMMANDS[command]
    options: dict[str, str] = {}
    rest = iter(arguments[1:])
    for argument in rest:
        name, equals, value = argument.partition("=")
        if not name.startswith("--") or name[2:] not in required + optional:
            _wrong(f"{command} has no option {name}")
        options[name[2:]] = value if equals else next(rest, "")
        if not options[name[2:]]:
            _wrong(f"{name} requires a value")
    missing = [name for name in required if name not in options]
    if missing:
        _wrong(f"{command} requires --{missing[0]}")
    return command, options


def _wrong(message: str) -> None:
    sys.stderr.write(f"{USAGE}roost_executor: {message}\n")
    sys.exit(2)


if __name__ == "__main__":
    sys.exit(main())
