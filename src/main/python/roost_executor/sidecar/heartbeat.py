"""The heartbeat of a longer execution: keeps the lease and brings a cancel at once."""

import json
import threading
from typing import Callable

from roost_executor.sidecar.link import Address, Link, Pause

WAIT_SECONDS = 5


class Heartbeat:
    """A thread that keeps a request open until the execution ends."""

    def __init__(
        self,
        address: Address,
        execution_id: str,
        cancel: "Callable[[], None]",
        kill: "Callable[[], None]",
    ) -> None:
        self._address = address
        self._path = f"/internal/v1/executions/{execution_id}/frames?wait={WAIT_SECONDS}"
        self._cancel = cancel
        self._kill = kill
        self._link = Link(address)
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def stop(self) -> None:
        """Ends the thread, without waiting for it."""
        self._stopped.set()
        self._link.interrupt()

    def _run(self) -> None:
        pause = Pause()
        while not self._stopped.is_set():
            try:
                response = self._link.call(self._path, b"", "application/x-ndjson", WAIT_SECONDS + 15)
            except self._address.errors:
                self._stopped.wait(pause.next())
                continue
            if self._stopped.is_set():
                break
            if response.status in (404, 409):
                self._kill()
                break
            if response.status == 200:
                pause.reset()
                try:
                    cancelled = json.loads(response.body).get("cancel")
                except ValueError:
                    cancelled = False
                if cancelled:
                    self._cancel()
                    # From now on responses come at once; the lease must still be renewed.
                    self._stopped.wait(WAIT_SECONDS)
            else:
                self._stopped.wait(pause.next())
        self._link.close()
