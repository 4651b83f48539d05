"""Handing over the work of an execution to the process that runs it.

Both ends of a Unix socket are in the same executor. The work itself is in a file without a name, so that a payload of
some MiB never blocks its sender; the socket carries the file's descriptor.
"""

import json
import os
import socket
from typing import Any, NamedTuple

from roost_executor.linux import anonymous_file

LONGEST_MESSAGE = 64


class Ends(NamedTuple):
    """A script process's ends of its connections to the runner."""

    # Sends this process's id when it is ready, and receives the work.
    work: socket.socket
    # The write ends of the pipes of stdout, stderr and control.
    outputs: "tuple[int, int, int]"

    def close(self) -> None:
        """Closes all of them."""
        self.work.close()
        for end in self.outputs:
            os.close(end)


class Message(NamedTuple):
    """To a process with several executions: about the one with this number."""

    number: int
    # None: it is to be cancelled.
    work: "dict[str, Any] | None"


def send_work(connection: socket.socket, work: "dict[str, Any]", directory: str, message: bytes = b"w") -> None:
    """Sends `work`, all of it but the scripts. `directory`: for the file. Raises OSError.

    `message`: for the receiver, besides the work.
    """
    payload = work["payload"]
    others = {name: value for name, value in work.items() if name not in ("agent", "draft", "payload")}
    head = json.dumps({**others, "has_payload": payload is not None}).encode()
    body = b"" if payload is None else payload.encode("utf-8", "surrogatepass")
    descriptor = anonymous_file(directory)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(head + b"\n")
            file.write(body)
        os.lseek(descriptor, 0, os.SEEK_SET)
        socket.send_fds(connection, [message], [descriptor])
    finally:
        os.close(descriptor)


def receive_work(connection: socket.socket) -> "dict[str, Any] | None":
    """Waits for the work; None when the other end is closed."""
    _, descriptors, _, _ = socket.recv_fds(connection, LONGEST_MESSAGE, 1)
    return _read(descriptors[0]) if descriptors else None


def send_shared(connection: socket.socket, number: int, work: "dict[str, Any]", directory: str) -> None:
    """Sends the work of the execution with this number, as `send_work` does. Raises OSError."""
    send_work(connection, work, directory, b"w%d" % number)


def send_cancel(connection: socket.socket, number: int) -> None:
    """Cancels the execution with this number. Raises OSError."""
    connection.send(b"c%d" % number)


def receive_shared(connection: socket.socket) -> "Message | None":
    """Waits for what the two functions above send; None when the other end is closed."""
    text, descriptors, _, _ = socket.recv_fds(connection, LONGEST_MESSAGE, 1)
    if not text:
        return None
    return Message(int(text[1:]), _read(descriptors[0]) if descriptors else None)


def _read(descriptor: int) -> "dict[str, Any]":
    with open(descriptor, "rb") as file:
        work: dict[str, Any] = json.loads(file.readline())
        body = file.read()
    work["payload"] = body.decode("utf-8", "surrogatepass") if work.pop("has_payload") else None
    return work


def send_ends(connection: socket.socket, ends: Ends) -> None:
    """Sends a process's ends to the template that forks it. Raises OSError."""
    socket.send_fds(connection, [b"f"], [ends.work.fileno(), *ends.outputs])


def receive_ends(connection: socket.socket) -> "Ends | None":
    """Waits for a process's ends; None when the runner has closed the connection."""
    _, descriptors, _, _ = socket.recv_fds(connection, LONGEST_MESSAGE, 4)
    if len(descriptors) != 4:
        return None
    work, output, errors, control = descriptors
    return Ends(socket.socket(fileno=work), (output, errors, control))
