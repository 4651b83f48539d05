"""Making the executor's code available to the runner's container, whose image holds nothing of Roost's."""

import os

OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__))


def publish(directory: str) -> None:
    """Copies this package, compiled files included, into `directory`, where it appears all at once.

    Every user may read the copy, whatever the umask. One that is there already stays: it came from the same image.
    """
    target = os.path.join(directory, os.path.basename(OWN_DIRECTORY))
    if os.path.isdir(target):
        return
    previous = os.umask(0o022)
    try:
        os.makedirs(directory, exist_ok=True)
        temporary = f"{target}.{os.getpid()}"
        _copy(OWN_DIRECTORY, temporary)
        os.rename(temporary, target)
    finally:
        os.umask(previous)


def _copy(source: str, target: str) -> None:
    # shutil takes longer to import than all this takes.
    os.makedirs(target, exist_ok=True)
    with os.scandir(source) as entries:
        for entry in entries:
            copy = os.path.join(target, entry.name)
            if entry.is_dir():
                _copy(entry.path, copy)
                continue
            with open(entry.path, "rb", buffering=0) as original, open(copy, "wb", buffering=0) as file:
                file.write(original.readall())
            status = entry.stat()
            # A compiled file names the time of its source: with another one it would be compiled anew.
            os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
