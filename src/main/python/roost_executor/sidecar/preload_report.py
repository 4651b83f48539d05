"""What a template has imported, on its way to the control plane, which keeps it with the agent's revision."""

import threading
import time

from roost_executor.sidecar.link import Address, Link, Pause

ATTEMPTS = 5
RESPONSE_SECONDS = 10.0


def send_preload_report(address: Address, executor: str, report: bytes) -> None:
    """Sends it on a thread and a connection of its own: it has time, and the next poll may be waiting.

    It is dropped after five attempts: the next executor will report again.
    """
    path = f"/internal/v1/executors/{executor}/preload"
    threading.Thread(target=_send, args=(Link(address), path, report), name="preload", daemon=True).start()


def _send(link: Link, path: str, report: bytes) -> None:
    pause = Pause()
    for _ in range(ATTEMPTS):
        try:
            status = link.call(path, report, "application/json", RESPONSE_SECONDS).status
        except link.address.errors:
            status = 503
        if status < 500 and status != 429:
            break
        time.sleep(pause.next())
    link.close()
