"""Unix sockets between the processes of an executor."""

import contextlib
import os
import socket
import sys

# sockaddr_un holds 108 bytes with the closing zero.
LONGEST_PATH = 107
# Of an operation on a store, as JSON, from the script to the sidecar.
MOST_STORE_BYTES = 32 * 1024 * 1024


class UnixPath:
    """A socket's path that bind and connect accept at any length.

    A path too long for sockaddr_un is reached through /proc/self/fd, as long as this is open.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        self.address = path
        if len(os.fsencode(path)) > LONGEST_PATH:
            self._descriptor = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY)
            self.address = f"/proc/self/fd/{self._descriptor}/{os.path.basename(path)}"

    def __enter__(self) -> str:
        return self.address

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


def listen(path: str, backlog: int, for_all_users: bool = False) -> socket.socket:
    """A listening socket at `path`; one left there by an earlier process is replaced."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with UnixPath(path) as address:
        listener.bind(address)
        if for_all_users:
            os.chmod(address, 0o666)
    listener.listen(backlog)
    return listener


def connect(path: str) -> socket.socket:
    """A connection to the socket at `path`; raises OSError when no process listens."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with UnixPath(path) as address:
            connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection


def peer_of(connection: socket.socket) -> int:
    """The process id of the peer; 0 when it is in another container."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[:4], sys.byteorder)


class LineReader:
    """Splits what a socket receives into lines, at a cost that grows with the bytes alone."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> "list[bytes]":
        """The lines completed by `data`, without their newlines."""
        if b"\n" not in data:
            self._parts.append(data)
            return []
        lines = data.split(b"\n")
        lines[0] = b"".join(self._parts) + lines[0]
        rest = lines.pop()
        self._parts = [rest] if rest else []
        return lines
