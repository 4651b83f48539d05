"""A script's connection to the sidecar, for its stores."""

import os
import socket
import threading
from typing import Any

from roost_executor.script import store_errors
from roost_executor.script.jsonvalue import decode
from roost_executor.wire.sockets import MOST_STORE_BYTES, connect

RECEIVE_BYTES = 64 * 1024
READS = ("get", "count", "scan", "steps")


class StoreConnection:
    """Sends one request at a time, from any thread; connects at the first request, and again when needed.

    After a fork the child connects anew: the connection, and maybe its lock, are in use by the parent.
    """

    def __init__(self, socket_path: str, store_id: str) -> None:
        self._socket_path = socket_path
        self.store_id = store_id
        self._current = _Socket()

    def request(self, operation: str, body: str) -> Any:
        """The result of an operation; `body` is a JSON object (ASCII) of its fields. Raises what `store_errors` has."""
        if len(body) > MOST_STORE_BYTES:
            raise store_errors.ValueTooLarge(
                f"{operation}: it is {len(body):,} bytes as JSON; one operation may have {MOST_STORE_BYTES:,}"
            )
        request = f"{operation} {self.store_id} {len(body)}\n{body}".encode()
        current = self._current
        if current.process != os.getpid():
            current = self._current = _Socket()
        with current.lock:
            if current.busy:
                # A signal handler interrupted code that waits for a response.
                current = _Socket()
            current.busy = True
            try:
                status, answer = current.exchange(self._socket_path, request)
            except OSError as error:
                current.close()
                applied = "" if operation in READS else "; it may have been applied"
                raise store_errors.StoreUnavailable(
                    f"{operation}: the executor's store connection failed ({error}){applied}"
                ) from None
            except BaseException:
                # Interrupted halfway (a signal handler that raised): the answer would be taken for the next one's.
                current.close()
                raise
            finally:
                current.busy = False
                if current is not self._current:
                    current.close()
        if status == 200:
            try:
                return decode(answer.decode())
            except ValueError:
                raise store_errors.StoreError(f"{operation}: the control plane's answer isn't JSON") from None
        raise _failure(operation, status, answer)

    def close(self) -> None:
        """Closes the connection; the next request opens it again."""
        with self._current.lock:
            self._current.close()


class _Socket:
    """The connection as one process has it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.lock = threading.RLock()
        self.busy = False
        self._socket: socket.socket | None = None

    def exchange(self, socket_path: str, request: bytes) -> "tuple[int, bytes]":
        """Status and body of the answer. Raises OSError."""
        if self._socket is None:
            self._socket = connect(socket_path)
        try:
            self._socket.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            # Refused: the sidecar's response, sent before it closed, can still be read.
            answer = self._receive()
            self.close()
            return answer
        return self._receive()

    def close(self) -> None:
        """Closes it, as far as it is open."""
        current, self._socket = self._socket, None
        if current is not None:
            current.close()

    def _receive(self) -> "tuple[int, bytes]":
        data = b""
        while b"\n" not in data:
            data += self._more(RECEIVE_BYTES)
        head, _, body = data.partition(b"\n")
        status, length = map(int, head.split())
        if len(body) < length:
            parts = [body]
            missing = length - len(body)
            while missing:
                parts.append(self._more(min(missing, 1 << 20)))
                missing -= len(parts[-1])
            body = b"".join(parts)
        return status, body

    def _more(self, most: int) -> bytes:
        data = self._socket.recv(most) if self._socket is not None else b""
        if not data:
            raise ConnectionError("the sidecar closed the connection")
        return data


def _failure(operation: str, status: int, answer: bytes) -> store_errors.StoreError:
    try:
        problem = decode(answer.decode())
        code = str(problem.get("code"))
        detail = problem.get("detail") or problem.get("title") or code
    except (ValueError, AttributeError):
        return store_errors.StoreError(f"{operation}: the control plane answered with status {status}")
    return store_errors.BY_CODE.get(code, store_errors.StoreError)(str(detail))
