"""Command line: `python -I -B -m roost_executor sidecar|runner …`, or the same with this directory's path."""

import os
import sys

# Started with -B, which is for the script's sake: the environment that it imports from stays as it was
# built. The executor's own modules are compiled once, where their directory may be written to;
# compiling them takes longer than all the rest of a start. `Child` sets it back.
sys.dont_write_bytecode = False

if not __package__:
    # Started by path (`python -I -B …/roost_executor`): the parent directory makes the package
    # importable. It goes last, so that it can't hide a module of the script's.
    own_directory = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != own_directory]
    sys.path.append(os.path.dirname(own_directory))


def main() -> int:
    """Runs one of the two processes and returns its exit status."""
    import argparse

    parser = argparse.ArgumentParser(prog="roost_executor", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    sidecar = commands.add_parser("sidecar", help="the link to the control plane")
    sidecar.add_argument("--url", required=True, help="the control plane's internal address")
    sidecar.add_argument("--executor", required=True, help="this executor's id")
    sidecar.add_argument("--token-file", required=True, help="holds the first bearer token")
    sidecar.add_argument("--directory", required=True, help="this executor's own directory")
    sidecar.add_argument("--runner", help="start the runner with this Python interpreter")
    runner = commands.add_parser("runner", help="runs the script, in a fork for each execution")
    runner.add_argument("--directory", required=True, help="this executor's own directory")
    runner.add_argument("--parent", type=int, help="end when this is no longer the parent process")
    arguments = parser.parse_args()
    if os.getpgrp() != os.getpid():
        os.setsid()
    os.makedirs(arguments.directory, exist_ok=True)
    directory = os.path.realpath(arguments.directory)
    if arguments.command == "runner":
        from roost_executor.runner import Runner

        return Runner(directory, arguments.parent).run()
    from roost_executor.spawn import spawn_runner

    # Before the heavier imports, so that both processes start side by side.
    runner_id = spawn_runner(arguments.runner, directory) if arguments.runner else None
    from roost_executor.sidecar import Sidecar

    return Sidecar(arguments.url, arguments.executor, arguments.token_file, directory, runner_id).run()


if __name__ == "__main__":
    sys.exit(main())
