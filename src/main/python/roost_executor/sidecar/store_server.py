"""The sidecar's side of the stores: receives a script's operations and sends them to the control plane.

Whatever comes over the socket was written by the script, maybe with bad intent: nothing of it may end a thread
with a traceback, make the sidecar grow without bound, or reach what isn't this execution's.
"""

import contextlib
import json
import os
import socket
import threading
import time
from typing import Any

from roost_executor.processes import is_below
from roost_executor.sidecar.link import Address, Link, Pause
from roost_executor.sidecar.store_requests import (
    Bytes,
    MalformedRequest,
    MemoryBudget,
    Requests,
    Reservation,
    StoreRequest,
    problem,
    reply,
)
from roost_executor.wire.sockets import peer_of

# Of one call to the control plane, before a retry.
RESPONSE_SECONDS = 30.0
# Where the work doesn't say how long an operation may wait for the control plane.
WAIT_SECONDS = 30.0
LEAST_RESPONSE_SECONDS = 5.0
LONGEST_LOCK_WAIT_SECONDS = 20.0
MOST_CONNECTIONS = 256
# In place of a store's identifier: the execution's job, whose steps have numbers of their own.
JOB = "job"
JOB_OPERATIONS = frozenset(("step", "steps", "reopen_steps", "timer", "call", "event", "approval", "outcomes"))
# Likewise: the values that the execution emits, and its progress.
STREAM = "stream"
STREAM_OPERATIONS = frozenset(("emit", "progress"))
# Likewise: the files that the job reads and makes.
FILES = "files"
FILE_OPERATIONS = frozenset(("read_file", "create_artifact", "artifact_part", "complete_artifact"))
READS = frozenset(("get", "count", "scan", "lock", "renew"))
READ_ONLY = READS | {"steps"}
WRITES = frozenset(("set", "delete", "pop", "increment", "clear", "transaction", "unlock"))
STORE_OPERATIONS = READS | WRITES
# Of what isn't a store.
OPERATIONS = {JOB: JOB_OPERATIONS, STREAM: STREAM_OPERATIONS, FILES: FILE_OPERATIONS}
JSON = "application/json"


class StoreServer:
    """Serves each connection of the script's processes in a thread of its own."""

    def __init__(self, address: Address, runner: "int | None" = None) -> None:
        """`runner`: only processes below that one are served; None: every process."""
        self._address = address
        self._runner = runner
        self._execution_id = ""
        self._paths: dict[str, str] = {}
        self._links: dict[Link, socket.socket] = {}
        self._lock = threading.Lock()
        self._budget = MemoryBudget()
        self._deadline = 0.0
        self._wait_seconds = WAIT_SECONDS

    def begin(self, work: "dict[str, Any]") -> None:
        """From now on operations are those of this execution, on its stores alone."""
        self._deadline = time.monotonic() + work["timeout_seconds"]
        self._wait_seconds = work["limits"].get("store_wait_seconds", WAIT_SECONDS)
        self._execution_id = work["execution_id"]
        self._paths = {store["id"]: f"/internal/v1/datastores/{store['id']}/operations" for store in work["stores"]}
        self._paths[JOB] = f"/internal/v1/executions/{work['execution_id']}/steps"
        self._paths[FILES] = f"/internal/v1/executions/{work['execution_id']}/files"
        self._paths[STREAM] = f"/internal/v1/executions/{work['execution_id']}/stream"

    def end(self, disconnect: bool = False) -> None:
        """The execution is over: its operations in flight are given up.

        `disconnect`: the process goes on, and may not close its connections.
        """
        self._execution_id = ""
        self._paths = {}
        with self._lock:
            for link, connection in self._links.items():
                link.interrupt()
                if disconnect:
                    with contextlib.suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)

    def accept(self, listener: socket.socket) -> None:
        """Takes a connection that is waiting."""
        try:
            connection, _ = listener.accept()
        except OSError:
            return  # closed meanwhile
        if self._runner is not None and not is_below(peer_of(connection), self._runner):
            connection.close()  # a script of another agent on this machine has found the socket
            return
        link = Link(self._address)
        with self._lock:
            full = len(self._links) >= MOST_CONNECTIONS
            if not full:
                self._links[link] = connection
        reason = f"{MOST_CONNECTIONS} connections to stores are open; close some" if full else ""
        if not full:
            arguments = (connection, link, self._execution_id)
            try:
                threading.Thread(target=self._serve, args=arguments, name="store", daemon=True).start()
            except RuntimeError as error:
                self._forget(link)
                reason = f"the executor can't serve another connection: {error}"
        if reason:
            _refuse(connection, reason)

    def _serve(self, connection: socket.socket, link: Link, execution_id: str) -> None:
        try:
            with connection:
                _Connection(self, connection, link, execution_id).run()
        except (OSError, MemoryError):
            pass  # the script's process has ended, or there is too little memory for its request
        finally:
            link.close()
            self._forget(link)

    def _forget(self, link: Link) -> None:
        with self._lock:
            self._links.pop(link, None)

    def path(self, store: str, execution_id: str) -> "str | None":
        """Where the operations on a store go; None when this execution hasn't got it, or has ended."""
        return self._paths.get(store) if execution_id == self._execution_id else None

    def is_over(self, execution_id: str) -> bool:
        """Whether this execution has ended."""
        return execution_id != self._execution_id

    def deadline_of(self, wait_seconds: float) -> float:
        """The end of the retries of a request to the control plane that starts now (monotonic time).

        `wait_seconds`: for how long the operation itself may wait there.
        """
        now = time.monotonic()
        return min(now + wait_seconds + self._wait_seconds, max(self._deadline, now))

    @property
    def budget(self) -> MemoryBudget:
        """The memory of all connections for bodies."""
        return self._budget


class _Connection:
    """One connection of the script: requests and their responses, one at a time."""

    def __init__(self, server: StoreServer, connection: socket.socket, link: Link, execution_id: str) -> None:
        self._server = server
        self._connection = connection
        self._link = link
        self._execution_id = execution_id
        # By these the control plane knows a write that is sent again, and does it once.
        self._channel = os.urandom(16).hex()
        self._sequence = 0

    def run(self) -> None:
        """Serves until the script closes the connection. Raises OSError."""
        requests = Requests(self._connection, self._server.budget)
        reservation = Reservation(self._server.budget)
        try:
            while True:
                request = requests.next()
                if request is None:
                    return
                # A response reserves memory only if its request has none: two connections can't wait for each other.
                self._link.on_length = None if request.is_reserved else reservation.reserve
                status, body = self._handle(request)
                requests.done()
                self._send(request, status, body)
                reservation.release()
        except MalformedRequest as error:
            _send(self._connection, 400, problem(error.code, str(error)))
        finally:
            requests.done()
            reservation.release()

    def _send(self, request: StoreRequest, status: int, body: Bytes) -> None:
        try:
            _send(self._connection, status, body)
        except OSError:
            if request.operation == "lock" and request.store not in OPERATIONS and status == 200:
                self._undo(request, body)
            raise

    def _handle(self, request: StoreRequest) -> "tuple[int, Bytes]":
        path = self._server.path(request.store, self._execution_id)
        if path is None:
            return 403, problem("forbidden", "this execution has no such store, or has ended")
        operation = request.operation
        if operation == "lock" and request.store not in OPERATIONS and not request.is_reserved:
            return self._lock_response(path, request)
        fields = f'{{"execution_id": {json.dumps(self._execution_id)}, "op": "{operation}"'
        if operation not in OPERATIONS.get(request.store, STORE_OPERATIONS):
            return 400, problem("validation_failed", f"there is no operation {operation[:50]!r} here")
        if operation in WRITES:
            self._sequence += 1
            fields += f', "channel": "{self._channel}", "seq": {self._sequence}'
        elif operation in READ_ONLY and request.is_reserved:
            return 400, problem("too_large", f"{operation}: the request is too large")
        # Ours go first: should a script's body end the object early, ours are in what is left of it.
        # One that repeats ours is refused by the control plane, which takes no object with a name twice.
        body = request.body
        return self._request(path, operation, (fields + (", " if len(body) > 2 else "")).encode(), body[1:])

    def _lock_response(self, path: str, request: StoreRequest) -> "tuple[int, Bytes]":
        """The control plane may hold a lock's response for long; a retry waits for the remaining time only."""
        try:
            content = json.loads(bytes(request.body))
            lock = {name: content[name] for name in ("name", "holder", "ttl")}
            wait = content["wait"]
        except (ValueError, RecursionError, KeyError, TypeError):
            return 400, problem("malformed_json", "not a store operation")
        texts = isinstance(lock["name"], str) and isinstance(lock["holder"], str)
        if not (texts and _is_number(lock["ttl"]) and _is_number(wait) and 0 <= wait <= LONGEST_LOCK_WAIT_SECONDS):
            return 400, problem("validation_failed", "lock: name and holder are text, wait is from 0 to 20 s")
        end = time.monotonic() + wait

        def again() -> bytes:
            left = max(0.0, round(end - time.monotonic(), 3))
            return json.dumps({"execution_id": self._execution_id, "op": "lock", **lock, "wait": left}).encode()

        return self._request(path, "lock", b"", b"", wait, again)

    def _undo(self, request: StoreRequest, response: Bytes) -> None:
        """Releases a lock whose response could not be delivered."""
        content = json.loads(bytes(request.body))
        if json.loads(response).get("acquired"):
            self._link.on_length = None
            body = json.dumps({"name": content["name"], "holder": content["holder"]}).encode()
            self._handle(StoreRequest("unlock", request.store, memoryview(body)))

    def _request(
        self,
        path: str,
        operation: str,
        before: bytes,
        body: "memoryview | bytes",
        wait_seconds: float = 0.0,
        again: Any = None,
    ) -> "tuple[int, Bytes]":
        """Status and body of the control plane's response, with retries until the deadline."""
        deadline = self._server.deadline_of(wait_seconds)
        pause = Pause()
        while True:
            left = min(wait_seconds + RESPONSE_SECONDS, deadline - time.monotonic())
            response_seconds = max(left, LEAST_RESPONSE_SECONDS)
            try:
                response = self._link.call(path, again() if again else body, JSON, response_seconds, before)
                # Replicas of an earlier release answer 404; the others take over soon.
                is_missing = response.status == 404 and operation in JOB_OPERATIONS | STREAM_OPERATIONS
                if response.status < 500 and response.status not in (408, 429) and not is_missing:
                    return response.status, response.body
                failure = f"status {response.status}"
            except OSError as error:
                failure = str(error) or type(error).__name__
            seconds = pause.next()
            if time.monotonic() + seconds > deadline or self._server.is_over(self._execution_id):
                applied = "" if operation in READ_ONLY else "; it may have been applied"
                # Should the control plane have begun with that write, the next ones have nothing to do with it.
                self._channel, self._sequence = os.urandom(16).hex(), 0
                detail = f"{operation}: the control plane gave no response ({failure}){applied}"
                return 503, problem("unavailable", detail)
            time.sleep(seconds)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _send(connection: socket.socket, status: int, body: Bytes) -> None:
    for part in reply(status, body):
        connection.sendall(part)


def _refuse(connection: socket.socket, reason: str) -> None:
    connection.setblocking(False)
    try:
        _send(connection, 503, problem("too_many_connections", reason))
    except OSError:
        pass  # it doesn't listen
    finally:
        connection.close()
