"""Locks between executions."""

import contextlib
import os
import threading
import time
from typing import Any

from roost_executor.script import store_errors
from roost_executor.script.jsonvalue import encode
from roost_executor.script.store_connection import StoreConnection
from roost_executor.script.store_operations import StoreOperations

LONGEST_WAIT_SECONDS = 20.0
# Between two requests, where the answer came before its time.
PAUSE_SECONDS = 0.1
# After a renewal that got no answer.
RENEW_AGAIN_SECONDS = 1.0


class Lock:
    """What `store.lock(…)` returns: a context manager, held within its with-block by one execution at a time.

    `held`: whether it is held now, as far as this process knows.
    """

    def __init__(self, store: StoreOperations, name: str, ttl: float, timeout: "float | None") -> None:
        self._store = store
        self._name = name
        self._ttl = ttl
        self._timeout = timeout
        self._holder = ""
        self._process = 0
        self._lost = False
        self._lease_end = 0.0
        self._released = threading.Event()

    def __repr__(self) -> str:
        return f"<Lock {self._name!r} of {self._store!r}, {'held' if self.held else 'not held'}>"

    def __reduce__(self) -> "tuple[Any, ...]":
        raise TypeError("a lock belongs to the process that takes it; send the store and take it there")

    @property
    def held(self) -> bool:
        """False before and after the block, in forked children, once it was lost, and while its lease may be over."""
        return (
            bool(self._holder)
            and self._process == os.getpid()
            and not self._lost
            and time.monotonic() < self._lease_end
        )

    def __enter__(self) -> "Lock":
        """Waits for the lock. Raises `store.LockTimeout`, `store.Unavailable`."""
        if self._holder and self._process == os.getpid():
            raise RuntimeError(f"the lock {self._name!r} is held already; locks aren't reentrant")
        me = (os.getpid(), threading.get_ident())
        if self._timeout is None and self._store.lock_owners.get(self._name) == me:
            raise RuntimeError(f"this thread holds a lock {self._name!r}, so waiting for it would never end")
        self._process = me[0]
        self._lost = False
        self._released = threading.Event()
        connection = StoreConnection(self._store.socket_path, self._store.store_id)
        holder = os.urandom(16).hex()
        try:
            self._acquire(connection, holder)
            threading.Thread(target=self._renew, args=(connection, holder, self._released), daemon=True).start()
            self._store.lock_owners[self._name] = me
            self._holder = holder
        except store_errors.StoreLockTimeout:
            connection.close()
            raise
        except BaseException as error:
            # It may have been granted: after its lease, another holder would stop this execution's writes.
            self._released.set()
            self._holder = ""
            connection.close()
            self._store.release_stray(self._name, holder, at_once=not isinstance(error, store_errors.StoreError))
            raise
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Frees the lock. Raises `store.LockLost` when it was lost, unless the block has raised something."""
        holder, self._holder = self._holder, ""
        if self._process != os.getpid():
            return  # a forked child has left the block: the lock is its parent's
        lost = self._lost
        self._released.set()
        self._store.lock_owners.pop(self._name, None)
        try:
            lost = not self._store.unlock(self._name, holder) or lost
        except store_errors.StoreError:
            self._store.release_stray(self._name, holder, at_once=False)
            if kind is None:
                raise
        if lost and kind is None:
            raise store_errors.StoreLockLost(f"the lock {self._name!r} was lost: its lease ran out and it was taken")

    def _acquire(self, connection: StoreConnection, holder: str) -> None:
        end = None if self._timeout is None else time.monotonic() + self._timeout
        while True:
            sent_at = time.monotonic()
            left = LONGEST_WAIT_SECONDS if end is None else max(0.0, end - sent_at)
            wait = round(min(left, LONGEST_WAIT_SECONDS), 3)
            request = {"name": self._name, "holder": holder, "ttl": self._ttl, "wait": wait}
            if connection.request("lock", encode(request))["acquired"]:
                # The time of the grant within the wait is unknown; the first renewal sets the exact end.
                self._lease_end = time.monotonic() + self._ttl
                return
            now = time.monotonic()
            if end is not None and now >= end:
                waited = f" within {self._timeout:g} s" if self._timeout else ""
                raise store_errors.StoreLockTimeout(f"the lock {self._name!r} wasn't free{waited}")
            if now - sent_at < wait / 2:
                time.sleep(PAUSE_SECONDS if end is None else min(PAUSE_SECONDS, end - now))

    def _renew(self, connection: StoreConnection, holder: str, released: threading.Event) -> None:
        """Runs in a thread of this process, so that a stopped process loses its locks."""
        request = encode({"name": self._name, "holder": holder, "ttl": self._ttl})
        pause = self._ttl / 3
        while not released.wait(pause):
            sent_at = time.monotonic()
            pause = self._ttl / 3
            try:
                held = connection.request("renew", request)["held"]
            except store_errors.StoreUnavailable:
                # An expired lease can be renewed until another holder takes it.
                pause = min(pause, RENEW_AGAIN_SECONDS)
                continue
            except store_errors.StoreError:
                held = False
            if released.is_set():
                break
            if not held:
                self._lost = True
                break
            self._lease_end = sent_at + self._ttl
        with contextlib.suppress(OSError):
            connection.close()
