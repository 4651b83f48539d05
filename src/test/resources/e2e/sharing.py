"""What a script reaches: its own stores, and no other, however it asks."""

import socket


def main(request, store):
    return globals()[request.payload["do"]](request, store, request.payload)


def put(request, store, order):
    store["from"] = order["value"]
    return list(request.stores)


def look(request, store, order):
    return {"names": list(request.stores), "values": {name: dict(one) for name, one in request.stores.items()}}


def reach(request, store, order):
    """What each way of using a foreign store came to."""
    kind, (path, _, *more) = store.__reduce__()
    foreign = kind(path, order["foreign"], *more)
    answers = []
    for use in (
        lambda: foreign.get("secret"),
        lambda: foreign.set("secret", "changed"),
        lambda: foreign.increment("count"),
        lambda: len(foreign),
        lambda: list(foreign.items()),
        lambda: foreign.clear(),
        lambda: foreign.transact(lambda tx: tx.set("secret", "changed")),
        lambda: foreign.lock("door", timeout=0).__enter__(),
    ):
        try:
            answers.append(f"done: {use()!r}")
        except store.Error as error:
            answers.append(f"{type(error).__name__}: {error}")
    body = b'{"key": "secret"}'
    for name in (order["foreign"], "../" + order["foreign"], "x/operations?"):
        with socket.socket(socket.AF_UNIX) as raw:
            raw.connect(path)
            raw.sendall(b"get %s %d\n%s" % (name.encode(), len(body), body))
            answers.append("raw: " + raw.recv(4096).decode())
    return answers
