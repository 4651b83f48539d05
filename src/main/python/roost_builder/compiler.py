"""The program that ``bytecode`` starts: compiles every module below a directory, and prints how many compiled.

What ``marshal`` writes depends on more than the source: on which strings the process has interned already and on how
often its objects are referred to. So every module is compiled in a fork of one process that has done nothing
before; then other modules, their order and their number have no influence, and several can be compiled at a time.
The compiled file names its source by a hash that is never checked, since the time of the source will be another.
"""

import sys

sys.path[:] = sys.path[1:]  # The builder's directory, whose modules must not be imported here.

import os  # noqa: E402
import py_compile  # noqa: E402
import signal  # noqa: E402

MAX_PROCESSES = 4
COMPILED, NOT_PYTHON, FAILED = range(3)


def main(directory: str) -> int:
    """0 when every module has been compiled or isn't valid for this Python."""
    free = min(MAX_PROCESSES, len(os.sched_getaffinity(0)))
    compiled = 0
    for path in modules(directory):
        if free == 0:
            compiled += ended()
        else:
            free -= 1
        if os.fork() == 0:
            compile_one(path)
    while True:
        try:
            compiled += ended()
        except ChildProcessError:
            break
    print(compiled)
    return 0


def modules(directory: str) -> "list[str]":
    """The paths of all modules, sorted."""
    found = []
    for folder, _, files in os.walk(directory):
        found += [os.path.join(folder, file) for file in files if file.endswith(".py")]
    return sorted(path for path in found if os.path.isfile(path) and not os.path.islink(path))


def compile_one(path: str) -> None:
    """Compiles one module and ends this process."""
    try:
        py_compile.compile(path, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        os._exit(COMPILED)
    except py_compile.PyCompileError as error:
        # Templates and samples for other versions of Python are no error. Only a lack of memory is an error.
        if error.exc_type_name != "MemoryError":
            os._exit(NOT_PYTHON)
        os.write(2, b"MemoryError\n")
    except BaseException as error:
        os.write(2, f"{path} can't be compiled: {error!r}\n".encode("utf-8", "replace"))
    os._exit(FAILED)


def ended() -> bool:
    """Waits for one process; whether it has compiled its module. Ends the program when the process failed."""
    status = os.waitstatus_to_exitcode(os.wait()[1])
    if status == FAILED:
        sys.exit(1)
    if status == -signal.SIGKILL:
        sys.exit("Cannot allocate memory: a process that compiled a module was killed.")
    return status == COMPILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
