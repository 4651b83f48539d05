"""Increments until the test says that it's enough, each told before and after."""

import select
import socket


def main(request, store):
    order = request.payload
    if order["last"]:
        return store.get("n", 0)
    sink = socket.create_connection(order["sink"])
    number = 0
    while not select.select([sink], [], [], 0)[0]:
        number += 1
        name = f"{request.execution_id}.{number}"
        sink.sendall(f"tries {name}\n".encode())
        try:
            sink.sendall(f"done {name} {store.increment('n')}\n".encode())
        except store.Unavailable:
            sink.sendall(f"unknown {name}\n".encode())
            select.select([sink], [], [], 0.5)  # without its sidecar it may live on for a moment
    return number
