"""The sidecar: polls for work, passes it to the runner, delivers the frames."""

import json
import os
import select
import signal
import socket
import stat
import sys
import time
from typing import Any, NoReturn

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
        bundle_directory: "str | None" = None,
    ) -> None:
        """`directory`: the sidecar's own; `sockets`: where it listens, maybe a directory that the runner only reads.

        `bundle_directory`: for the files of the agent's project; the runner reads it under the same path.
        `runner_id`: the runner's process id when the sidecar has started it; None in a pod's container.
        `confined`: scripts are, so the socket for stores is the only way here for those of other executors.
        """
        self._url = url
        self._ca_file = ca_file
        self._executor_id = executor_id
        self._token_file = token_file
        self.directory = directory
        self.sockets = sockets
        self._bundle_directory = bundle_directory or os.path.join(directory, "bundle")
        self.runner = RunnerProcess(runner_id)
        self.runner.on_preloaded = self._report_preloaded
        self.is_confined = confined
        # Whether every user may connect to the sockets.
        self.is_shared = sockets != directory
        self._delivery: Delivery | None = None
        # Fetches the files of the agent's project.
        self._fetch: Any = None
        self._shared: Any = None
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
            if self.runner.is_child:
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
        shared = self.is_shared
        listener = sockets.listen(os.path.join(self.sockets, "runner.sock"), 1, shared)
        self._store_listener = sockets.listen(os.path.join(self.sockets, "store.sock"), 64, shared)
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
        self.link = Link(self._address)
        self._pause = Pause()
        self.outages = OutageLog(self._address.place)
        self.link.prepare()
        self._await_runner(listener)
        listener.close()

    def _await_runner(self, listener: socket.socket) -> None:
        while not select.select([listener], [], [], 0.1)[0]:
            self.check()
        connection, _ = listener.accept()
        self.runner.attach(connection)
        while not self._python:
            for line in self._receive():
                self._python = json.loads(line)["python"]

    def _receive(self) -> "list[bytes]":
        lines = self.runner.receive()
        if lines is None:
            raise Exit(1, f"the runner exited: {self.runner.exit_text()}")
        return lines

    def _report_preloaded(self, report: bytes) -> None:
        from roost_executor.sidecar.preload_report import send_preload_report

        send_preload_report(self._address, self._executor_id, report)

    def _poll(self) -> None:
        """One poll, and the execution that it brings; or all executions if there are several at a time."""
        try:
            self._wait(self.send_poll({}), True)
            response = self.link.receive()
        except self._address.errors as error:
            self.link.close()
            self._wait(self.poll_failed(error))
            return
        pause = self.take_response(response)
        if pause is not None:
            self._wait(pause)
        elif response.status == 200:
            self._execute(response)

    def send_poll(self, fields: "dict[str, Any]") -> float:
        """Sends a poll, with these fields besides its own; returns for how many seconds to wait for the response."""
        self._polls += 1
        request = {
            "protocol": PROTOCOL,
            "polls": self._polls,
            "python": self._python,
            "prepared": self._prepared,
            "drafts": True,
            **fields,
        }
        path = f"/internal/v1/executors/{self._executor_id}/poll?wait={POLL_WAIT_SECONDS}"
        seconds = POLL_WAIT_SECONDS + RESPONSE_SECONDS
        self.link.send(path, json.dumps(request).encode(), "application/json", seconds)
        return seconds

    def poll_failed(self, cause: object) -> float:
        """Logs the cause; returns the seconds until the next poll."""
        self.outages.failed(cause)
        return self._pause.next()

    def take_response(self, response: Response) -> "float | None":
        """Takes the response to a poll, whose work is the caller's; returns a pause before the next one, in seconds.

        Raises Exit.
        """
        token = response.headers.get("roost-token")
        if token:
            self._address.token = token
        if response.status in (200, 204):
            self._pause.reset()
            self.outages.succeeded()
            return None
        if response.status == 410:
            raise Exit(0)
        if response.status in REFUSED:
            raise Exit(1, f"the control plane refused this executor ({status_of(response)}){detail_of(response)}")
        return self.poll_failed(response)

    def _execute(self, response: Response) -> None:
        try:
            work = json.loads(response.body)
        except ValueError:
            self._wait(self.poll_failed("work that isn't JSON"))
            return
        agent = work.get("agent") or {}
        head = b'{"type": "execute", '
        if "bundle" in agent:
            bundle = self._bundle_of(work)
            if bundle is None:
                return
            head += b'"bundle": %s, ' % json.dumps(bundle).encode()
        places = agent.get("requests_per_process", 1)
        if places > 1:
            self._execute_shared(response, places, head)
        truncate_when_large(1)
        # The body is passed on unchanged, so that a payload of some MiB isn't encoded again.
        text = response.body.replace(b"\n", b" ").replace(b"\r", b" ")
        delivery = self._delivery = self._delivery_of(work)
        self.runner.send(head + b'"work": ' + text + b"}\n")
        self._deliver(delivery)
        self._prepared = True

    def _bundle_of(self, work: "dict[str, Any]") -> "dict[str, Any] | None":
        """Where the files of the agent's project are. Without them, the execution ends, and this is None."""
        from roost_executor.sidecar.bundle import BundleFetch, Refused, Unfinished, check_script

        bundle = work["agent"]["bundle"]
        try:
            directory = bundle.get("directory")
            if directory is None:
                self._fetch = BundleFetch(
                    self._address, self._executor_id, self.outages, self._bundle_directory, work, self.check
                )
                directory = self._fetch.run()
            check_script(directory, bundle["script"])
            return {"directory": directory, "script": bundle["script"]}
        except Refused:
            raise Exit(1, "the control plane refused this executor") from None
        except Unfinished as unfinished:
            if unfinished.fields is not None:
                delivery = self._delivery = self._delivery_of(work)
                delivery.fail(unfinished.fields)
                self._deliver(delivery)
            elif self._terminated:
                raise Exit(TERMINATED, "the pod received SIGTERM") from None
            return None
        finally:
            self._fetch = None

    def _delivery_of(self, work: "dict[str, Any]") -> Delivery:
        return Delivery(
            work,
            self.directory,
            self.runner,
            self.link,
            self.outages,
            self._store_listener,
            self.is_confined,
            self.check,
        )

    def _deliver(self, delivery: Delivery) -> None:
        """Raises Exit if nothing can follow this execution."""
        if self._terminated:  # while the bundle was fetched
            delivery.terminate(time.monotonic() + DELIVERY_AFTER_SIGTERM_SECONDS)
        delivery.run()
        self._delivery = None
        if self._terminated:
            raise Exit(TERMINATED, "the pod received SIGTERM")
        if delivery.runner_lost:
            raise Exit(1, "the runner exited")
        if delivery.refused:
            raise Exit(1, "the control plane refused this executor")

    def _execute_shared(self, first: Response, places: int, head: bytes) -> NoReturn:
        """All executions of an agent that has several in one process. `head`: of the first command. Raises Exit."""
        from roost_executor.sidecar.shared import SharedExecutions

        self._prepared = True
        self._shared = SharedExecutions(self, places)
        if self._terminated:
            self._shared.terminate(time.monotonic() + DELIVERY_AFTER_SIGTERM_SECONDS)
        raise Exit(*self._shared.run(first, head))

    def _wait(self, seconds: float, for_response: bool = False) -> None:
        """Waits for a response or for time to pass; exits when the runner has exited or the directory is gone."""
        end = time.monotonic() + seconds
        readers: list[Any] = [self.runner.socket]
        if for_response:
            readers.append(self.link.socket)
        while True:
            remaining = end - time.monotonic()
            if remaining <= 0:
                return
            ready = select.select(readers, [], [], min(remaining, CHECK_SECONDS))[0]
            if self.runner.socket in ready:
                self._receive()
            if for_response and self.link.socket in ready:
                return
            if not ready:
                self.check()

    def check(self) -> None:
        """Exits when the directory is gone, or the runner exited before it connected."""
        if not os.path.isdir(self.directory):
            raise Exit(1, "the executor's directory was removed")
        if not self._python:
            exit_text = self.runner.poll_exit()
            if exit_text is not None:
                raise Exit(1, f"the runner didn't start: {exit_text}")

    def _terminate(self, *_: object) -> None:
        """Ends at once. Not by an exception: one that hits a destructor is swallowed by Python.

        In a pod the runner receives the signal too, and its last frames are waited for.
        """
        delivery = (
            self._fetch
            or self._delivery
            or (self._shared if self._shared is not None and self._shared.is_busy else None)
        )
        if delivery is not None and not self.runner.is_child:
            if not self._terminated:
                delivery.terminate(time.monotonic() + DELIVERY_AFTER_SIGTERM_SECONDS)
            self._terminated = True
            return
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_processes()
        os._exit(TERMINATED)
