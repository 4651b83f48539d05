"""The sidecar: polls for work, passes it to the runner, delivers the frames."""

import json
import os
import select
import signal
import socket
import stat
import sys
import time
from typing import Any

from roost_executor import PROTOCOL
from roost_executor.files import truncate_when_large
from roost_executor.sidecar.delivery import Delivery
from roost_executor.sidecar.link import Address, Link, Pause, Response
from roost_executor.sidecar.outages import OutageLog, detail_of, status_of
from roost_executor.sidecar.runner_process import RunnerProcess, end_processes
from roost_executor.wire import sockets

POLL_WAIT_SECONDS = 30
RESPONSE_SECONDS = 15
CHECK_SECONDS = 1.0
# A pod is killed 30 s after its SIGTERM. What isn't delivered by then is in the containers' logs.
DELIVERY_AFTER_SIGTERM_SECONDS = 27.0
# 422: the control plane speaks another version of the protocol.
REFUSED = (401, 403, 422)
TERMINATED = 128 + signal.SIGTERM


class Exit(Exception):  # noqa: N818
    """The sidecar ends, with this exit status."""

    def __init__(self, status: int, message: str = "") -> None:
        super().__init__(message)
        self.status = status


class Sidecar:
    """One sidecar, for one executor."""

    def __init__(
        self,
        url: str,
        executor_id: str,
        token_file: str,
        directory: str,
        sockets: str,
        runner_id: "int | None",
        confined: bool = False,
        ca_file: "str | None" = None,
    ) -> None:
        """`directory`: the sidecar's own; `sockets`: where it listens, maybe a directory that the runner only reads.

        `runner_id`: the runner's process id when the sidecar has started it; None in a pod's container.
        `confined`: scripts are, so the socket for stores is the only way here for those of other executors.
        """
        self._url = url
        self._ca_file = ca_file
        self._executor_id = executor_id
        self._token_file = token_file
        self._directory = directory
        self._sockets = sockets
        self._runner = RunnerProcess(runner_id)
        self._runner.on_preloaded = self._report_preloaded
        self._confined = confined
        self._delivery: Delivery | None = None
        self._terminated = False
        self._polls = 0
        self._prepared = False
        self._python = ""

    def run(self) -> int:
        """Works until the control plane stops it; returns the exit status."""
        signal.signal(signal.SIGTERM, self._terminate)
        status = 1
        try:
            from roost_executor import linux

            linux.set_dumpable(False)
            if self._runner.is_child:
                linux.become_subreaper()  # orphans of a killed runner become children of this process
            self._start()
            while True:
                self._poll()
        except Exit as end:
            status = end.status
            if str(end):
                print(f"roost sidecar: {end}", file=sys.stderr, flush=True)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            end_processes()
        return status

    def _start(self) -> None:
        shared = self._sockets != self._directory
        listener = sockets.listen(os.path.join(self._sockets, "runner.sock"), 1, shared)
        self._store_listener = sockets.listen(os.path.join(self._sockets, "store.sock"), 64, shared)
        with open(self._token_file, encoding="ascii") as file:
            token = file.read().strip()
            # Anything else (a device, a pipe) must not be removed.
            removable = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        try:
            if removable:
                os.unlink(self._token_file)
        except OSError:
            pass  # a read-only mount
        self._address = Address(self._url, token, self._ca_file)
        self._link = Link(self._address)
        self._pause = Pause()
        self._outages = OutageLog(self._address.place)
        self._link.prepare()
        self._await_runner(listener)
        listener.close()

    def _await_runner(self, listener: socket.socket) -> None:
        while not select.select([listener], [], [], 0.1)[0]:
            self._check()
        connection, _ = listener.accept()
        self._runner.attach(connection)
        while not self._python:
            for line in self._receive():
                self._python = json.loads(line)["python"]

    def _receive(self) -> "list[bytes]":
        lines = self._runner.receive()
        if lines is None:
            raise Exit(1, f"the runner exited: {self._runner.exit_text()}")
        return lines

    def _report_preloaded(self, report: bytes) -> None:
        from roost_executor.sidecar.preload_report import send_preload_report

        send_preload_report(self._address, self._executor_id, report)

    def _poll(self) -> None:
        """One poll, and the execution that it brings."""
        self._polls += 1
        request = {
            "protocol": PROTOCOL,
            "polls": self._polls,
            "python": self._python,
            "prepared": self._prepared,
            "drafts": True,
        }
        path = f"/internal/v1/executors/{self._executor_id}/poll?wait={POLL_WAIT_SECONDS}"
        try:
            body = json.dumps(request).encode()
            self._link.send(path, body, "application/json", POLL_WAIT_SECONDS + RESPONSE_SECONDS)
            self._wait(POLL_WAIT_SECONDS + RESPONSE_SECONDS, True)
            response = self._link.receive()
        except self._address.errors as error:
            self._link.close()
            self._outages.failed(error)
            self._wait(self._pause.next())
            return
        token = response.headers.get("roost-token")
        if token:
            self._address.token = token
        if response.status in (200, 204):
            self._pause.reset()
            self._outages.succeeded()
        if response.status == 200:
            self._execute(response)
        elif response.status == 204:
            return
        elif response.status == 410:
            raise Exit(0)
        elif response.status in REFUSED:
            raise Exit(1, f"the control plane refused this executor ({status_of(response)}){detail_of(response)}")
        else:
            self._outages.failed(response)
            self._wait(self._pause.next())

    def _execute(self, response: Response) -> None:
        truncate_when_large(1)
        try:
            work = json.loads(response.body)
        except ValueError:
            self._outages.failed("work that isn't JSON")
            self._wait(self._pause.next())
            return
        # The body is passed on unchanged, so that a payload of some MiB isn't encoded again.
        text = response.body.replace(b"\n", b" ").replace(b"\r", b" ")
        delivery = self._delivery = Delivery(
            work,
            self._directory,
            self._runner,
            self._link,
            self._outages,
            self._store_listener,
            self._confined,
            self._check,
        )
        self._runner.send(b'{"type": "execute", "work": ' + text + b"}\n")
        delivery.run()
        self._delivery = None
        if self._terminated:
            raise Exit(TERMINATED, "the pod received SIGTERM")
        self._prepared = True
        if delivery.runner_lost:
            raise Exit(1, "the runner exited")
        if delivery.refused:
            raise Exit(1, "the control plane refused this executor")

    def _wait(self, seconds: float, for_response: bool = False) -> None:
        """Waits for a response or for time to pass; exits when the runner has exited or the directory is gone."""
        end = time.monotonic() + seconds
        readers: list[Any] = [self._runner.socket]
        if for_response:
            readers.append(self._link.socket)
        while True:
            remaining = end - time.monotonic()
            if remaining <= 0:
                return
            ready = select.select(readers, [], [], min(remaining, CHECK_SECONDS))[0]
            if self._runner.socket in ready:
                self._receive()
            if for_response and self._link.socket in ready:
                return
            if not ready:
                self._check()

    def _check(self) -> None:
        """Exits when the directory is gone, or the runner exited before it connected."""
        if not os.path.isdir(self._directory):
            raise Exit(1, "the executor's directory was removed")
        if not self._python:
            exit_text = self._runner.poll_exit()
            if exit_text is not None:
                raise Exit(1, f"the runner didn't start: {exit_text}")

    def _terminate(self, *_: object) -> None:
        """Ends at once. Not by an exception: one that hits a destructor is swallowed by Python.

        In a pod the runner receives the signal too, and its last frames are waited for.
        """
        if self._delivery is not None and not self._runner.is_child:
            if not self._terminated:
                self._delivery.deadline = time.monotonic() + DELIVERY_AFTER_SIGTERM_SECONDS
            self._terminated = True
            return
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_processes()
        os._exit(TERMINATED)
