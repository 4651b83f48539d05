"""Executions that hold a lock, wait for it, leave it; what they do is told to the test, a line an event: NAME EVENT …"""

import os
import select
import signal
import socket
import time


class Teller:
    def __init__(self, order):
        self.name = order["name"]
        self.connection = socket.create_connection(order["sink"])

    def __call__(self, *event):
        self.connection.sendall((" ".join(map(str, (self.name, *event))) + "\n").encode())

    def is_over(self):
        return bool(select.select([self.connection], [], [], 0)[0])


def hold(store, order):
    """Writes while it holds the lock, and goes on until it is refused three times."""
    tell = Teller(order)
    if order["stubborn"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    refusals = 0
    try:
        with store.lock("held", ttl=order["ttl"]) as lock:
            tell("holds", os.getpid())
            while refusals < 3:
                try:
                    tell("wrote", store.set("written", order["name"]))
                except store.LockLost:
                    refusals += 1
                    tell("refused")
                except store.Error as error:
                    tell("failed", error)
                    time.sleep(0.05)
            tell("held" if lock.held else "not-held")
    except store.LockLost:
        tell("lost")
    tell("after", store.set("after", order["name"]))


def follow(store, order):
    """Waits for the lock; then writes and looks whether that is what stays, until it is enough."""
    tell = Teller(order)
    tell("waits")
    with store.lock("held", ttl=30):
        tell("holds")
        while not tell.is_over():
            version = store.set("written", order["name"])
            time.sleep(0.005)
            entry = store.entry("written")
            tell("wrote", version)
            if (entry.version, entry.value) != (version, order["name"]):
                tell("overwritten", entry.version, entry.value)


def leave(store, order):
    """Ends without a word about the lock that it holds."""
    tell = Teller(order)
    store.lock("held", ttl=600).__enter__()
    tell("holds")
    while not tell.is_over():
        time.sleep(0.01)


def give_up(store, order):
    """How long it waits for a lock that it doesn't get, in seconds."""
    waits = []
    for timeout in (0, 0.4):
        begin = time.monotonic()
        try:
            with store.lock("held", timeout=timeout):
                return "got it"
        except store.LockTimeout as error:
            assert isinstance(error, TimeoutError)
            waits.append(time.monotonic() - begin)
    return waits


def add(store, order):
    """A read and a write that only the lock makes one."""
    for _ in range(order["rounds"]):
        with store.lock("sum", ttl=30):
            store["sum"] = store.get("sum", 0) + 1


def main(request, store):
    return globals()[request.payload["role"]](store, request.payload)
