"""The sidecar's side of the stores: takes a script's operations and asks the control plane."""

import json
import socket
import threading
import time
from typing import Any

from roost_executor.link import Address, Link, Pause
from roost_executor.sockets import LineReader

PATIENCE_SECONDS = 30.0
READS = ("get", "count", "scan")


class StoreServer:
    """Serves each connection of the script's processes in a thread of its own."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._execution_id = ""
        self._allowed: frozenset[str] = frozenset()

    def begin(self, work: "dict[str, Any]") -> None:
        """From now on operations are those of this execution, on its stores alone."""
        self._execution_id = work["execution_id"]
        self._allowed = frozenset(store["id"] for store in work["stores"])

    def end(self) -> None:
        """The execution is over: its operations in flight are not tried again."""
        self._execution_id = ""
        self._allowed = frozenset()

    def accept(self, listener: socket.socket) -> None:
        """Takes a connection that is waiting."""
        connection, _ = listener.accept()
        threading.Thread(target=self._serve, args=(connection, self._execution_id), name="store", daemon=True).start()

    def _serve(self, connection: socket.socket, execution_id: str) -> None:
        link = Link(self._address)
        lines = LineReader()
        with connection:
            while True:
                try:
                    data = connection.recv(1 << 20)
                    if not data:
                        break
                    for line in lines.feed(data):
                        connection.sendall(self._answer(link, execution_id, line) + b"\n")
                except OSError:
                    break  # the script's process has ended
        link.close()

    def _answer(self, link: Link, execution_id: str, line: bytes) -> bytes:
        try:
            question = json.loads(line)
            store = question.pop("store")
            operation = question["op"]
        except (ValueError, KeyError, TypeError, AttributeError):
            return _problem("malformed_json", "not a store operation")
        if store not in self._allowed or execution_id != self._execution_id:
            return _problem("forbidden", "this execution has no such store, or has ended")
        question["execution_id"] = execution_id
        body = json.dumps(question).encode()
        give_up = time.monotonic() + PATIENCE_SECONDS
        pause = Pause()
        while True:
            try:
                path = f"/internal/v1/datastores/{store}/operations"
                answer = link.call(path, body, "application/json", PATIENCE_SECONDS)
                if answer.status == 200 and b"\n" not in answer.body:
                    return b'{"result": ' + answer.body + b"}"
                if answer.status < 500 and answer.status != 429:
                    return _of_answer(answer.status, answer.body)
                failure = f"status {answer.status}"
            except self._address.errors as error:
                failure = str(error) or type(error).__name__
            seconds = pause.next()
            if time.monotonic() + seconds > give_up or execution_id != self._execution_id:
                applied = "" if operation in READS else "; it may have been applied"
                return _problem(
                    "unavailable",
                    f"{operation}: the control plane gave no answer ({failure}){applied}",
                )
            time.sleep(seconds)


def _of_answer(status: int, body: bytes) -> bytes:
    try:
        content = json.loads(body)
    except ValueError:
        return _problem("internal", f"the control plane answered with status {status}")
    if status == 200:
        return json.dumps({"result": content}).encode()
    return _problem(
        str(content.get("code", "internal")),
        str(content.get("detail") or content.get("title") or status),
    )


def _problem(code: str, detail: str) -> bytes:
    return json.dumps({"error": {"code": code, "detail": detail}}).encode()
