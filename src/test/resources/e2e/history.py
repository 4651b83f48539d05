"""Random operations on a store, each told to the test before and after, until the test says that it's enough.

A line is an event: {"event": "begin", "id", "process", "what", "at"}, {"event": "intend", "id", "reads", "writes"} before
anything is written, {"event": "end", "id", "at", "outcome", "reads", "writes"}. Times are CLOCK_MONOTONIC in nanoseconds.
A read is [key, version, id of the value, scanned]; version 0: absent, -1: not shown. A write is ["set", key, version, id,
ttl in seconds] or ["delete", key, version, null, 0]. Values are {"id", "n"}, and no id comes twice.

What the store's interface doesn't tell is left at -1: the version that `get` and `pop` saw (the id tells it) and that
`del` removed. Counters are never removed, so their number stands for their version.
"""

import json
import random
import select
import socket
import time

PREFIXES = ("a/", "b/")
KEYS = [f"{prefix}{number}" for prefix in PREFIXES for number in range(1, 7)]
ACCOUNTS = ["m/1", "m/2", "m/3"]
COUNTERS = ["n/1", "n/2"]
BLIND = "t/1"


class Sink:
    def __init__(self, address):
        self.connection = socket.create_connection(address)

    def send(self, **event):
        self.connection.sendall(json.dumps(event).encode() + b"\n")

    def is_over(self, wait=0):
        return bool(select.select([self.connection], [], [], wait)[0])


class Worker:
    def __init__(self, store, sink, process, seed):
        self.store = store
        self.sink = sink
        self.process = process
        self.random = random.Random(seed)
        self.number = 0
        self.id = None

    def run(self, what):
        self.begin(what)
        try:
            getattr(self, what)()
            outcome = "ok"
        except self.store.Conflict as error:
            print(f"{self.id} {what}: {error!r}")
            outcome = "failed"
        except self.store.Error as error:
            print(f"{self.id} {what}: {error!r}")
            outcome = "unknown"
        self.end(outcome)
        if outcome == "unknown":
            self.sink.is_over(0.5)  # without its sidecar it may live on for a moment

    def begin(self, what):
        self.number += 1
        self.what = what
        self.id = f"{self.process}.{self.number}"
        self.values = 0
        self.reads = []
        self.writes = []
        self.sink.send(event="begin", id=self.id, process=self.process, what=what, at=time.monotonic_ns())

    def intend(self):
        self.sink.send(event="intend", id=self.id, reads=self.reads, writes=self.writes)

    def end(self, outcome):
        at = time.monotonic_ns()
        self.sink.send(event="end", id=self.id, at=at, outcome=outcome, reads=self.reads, writes=self.writes)

    def key(self):
        return self.random.choice(KEYS)

    def fresh(self, n=0):
        self.values += 1
        return {"id": f"{self.id}.{self.values}", "n": n}

    def saw(self, key, value, scanned=False):
        self.reads.append([key, 0 if value is None else -1, None if value is None else value["id"], scanned])
        return value

    def saw_all(self, prefix, items):
        found = dict(items)
        for key in KEYS + ACCOUNTS:
            if key.startswith(prefix):
                self.saw(key, found.get(key), True)
        return found

    # Single operations.

    def get(self):
        key = self.key()
        self.saw(key, self.store.get(key))

    def entry(self):
        key = self.key()
        try:
            entry = self.store.entry(key)
            self.reads.append([key, entry.version, entry.value["id"], False])
        except KeyError:
            self.saw(key, None)

    def scan(self):
        prefix = self.random.choice(PREFIXES)
        self.saw_all(prefix, self.store.items(prefix=prefix))

    def set(self, ttl=None):
        key, value = self.key(), self.fresh()
        self.writes = [["set", key, -1, value["id"], ttl or 0]]
        self.intend()
        self.writes[0][2] = self.store.set(key, value, ttl=ttl)

    def set_for_a_while(self):
        self.set(round(self.random.uniform(0.2, 1), 3))

    def setdefault(self):
        key, value = self.key(), self.fresh()
        self.writes = [["set", key, -1, value["id"], 0]]
        self.intend()
        found = self.store.setdefault(key, value)
        stored = found == value
        self.saw(key, None if stored else found)
        self.writes = self.writes if stored else []

    def delete(self):
        key = self.key()
        self.writes = [["delete", key, -1, None, 0]]
        self.intend()
        try:
            del self.store[key]
        except KeyError:
            self.saw(key, None)

    def pop(self):
        key = self.key()
        self.writes = [["delete", key, -1, None, 0]]
        self.intend()
        self.saw(key, self.store.pop(key, None))

    def increment(self):
        key = self.random.choice(COUNTERS)
        self.writes = [["set", key, -1, None, 0]]
        self.intend()
        number = self.store.increment(key)
        self.reads.append([key, number - 1, None, False])
        self.writes[0][2] = number

    def look_at_counter(self):
        key = self.random.choice(COUNTERS)
        self.reads.append([key, self.store.get(key, 0), None, False])

    # Transactions.

    def commit_of(self, change):
        with self.store.transaction() as tx:
            change(tx)
            self.intend()
        self.learn(tx)

    def learn(self, tx):
        for write in self.writes:
            if write[0] == "set":
                write[2] = tx.versions[write[1]]

    def put(self, tx, key, n=0, ttl=None):
        value = self.fresh(n)
        tx.set(key, value, ttl=ttl)
        self.writes.append(["set", key, -1, value["id"], ttl or 0])

    def change_some(self, tx):
        keys = self.random.sample(KEYS, self.random.randint(2, 3))
        for key in keys:
            self.saw(key, tx.get(key))
        for key in keys[: self.random.randint(1, len(keys))]:
            self.put(tx, key, ttl=self.random.choice([None, None, 0.5]))

    def read_modify_write(self):
        self.commit_of(self.change_some)

    def transact(self):
        calls = []

        def change(tx):
            if calls:
                self.end("failed")
                self.begin("transact")
            calls.append(tx)
            self.change_some(tx)
            self.intend()

        self.store.transact(change)
        self.learn(calls[-1])

    def transfer(self):
        def change(tx):
            source, target = self.random.sample(ACCOUNTS, 2)
            amount = self.random.randint(1, 10)
            for key, more in ((source, -amount), (target, amount)):
                before = self.saw(key, tx.get(key)) or {"n": 0}
                self.put(tx, key, before["n"] + more)

        self.commit_of(change)

    def read_only(self):
        def look(tx):
            for key in self.random.sample(KEYS, 3):
                self.saw(key, tx.get(key))
            balances = [self.saw(key, tx.get(key)) or {"n": 0} for key in ACCOUNTS]
            self.sum = sum(balance["n"] for balance in balances)

        self.commit_of(look)
        assert self.sum == 0, f"{self.id}: the accounts add up to {self.sum}"

    def scan_and_write(self):
        """Two that do it at once must see each other's keys: the write skew of a range."""

        def change(tx):
            prefix = self.random.choice(PREFIXES)
            self.saw_all(prefix, tx.items(prefix=prefix))
            self.put(tx, self.key())

        self.commit_of(change)

    def remove_in_transaction(self):
        def change(tx):
            one, other = self.random.sample(KEYS, 2)
            if self.saw(one, tx.get(one)) is not None:
                del tx[one]
                self.writes.append(["delete", one, -1, None, 0])
            self.put(tx, other)

        self.commit_of(change)

    def blind_increment(self):
        def change(tx):
            tx.increment(BLIND, 1)
            self.put(tx, self.key())

        self.commit_of(change)

    def take_stock(self):
        for prefix in (*PREFIXES, "m/"):
            self.begin("scan")
            found = self.saw_all(prefix, self.store.items(prefix=prefix))
            self.end("ok")
        for key in COUNTERS:
            self.begin("look_at_counter")
            self.reads.append([key, self.store.get(key, 0), None, False])
            self.end("ok")
        return {"sum": sum(balance["n"] for balance in found.values()), "blind": self.store.get(BLIND, 0)}


KINDS = {
    "get": 3,
    "entry": 3,
    "scan": 3,
    "set": 3,
    "set_for_a_while": 3,
    "setdefault": 1,
    "delete": 1,
    "pop": 2,
    "increment": 2,
    "look_at_counter": 1,
    "read_modify_write": 3,
    "transact": 2,
    "transfer": 2,
    "read_only": 2,
    "scan_and_write": 3,
    "remove_in_transaction": 2,
    "blind_increment": 1,
}
# What all processes do at once for a while, so that what mustn't happen at the same time would.
CROWD = ("scan_and_write", "scan_and_write", "read_modify_write", "remove_in_transaction")
CROWD_NANOSECONDS = 400_000_000


def next_kind(random):
    if time.monotonic_ns() // CROWD_NANOSECONDS % 3 == 0:
        return random.choice(CROWD)
    return random.choices(list(KINDS), list(KINDS.values()))[0]


def main(request, store):
    order = request.payload
    process = f"{order['process']}-{request.execution_id[-8:]}"
    worker = Worker(store, Sink(order["sink"]), process, f"{order['seed']} {order['process']} {request.attempt}")
    if order["last"]:
        return worker.take_stock()
    while not worker.sink.is_over():
        worker.run(next_kind(worker.random))
    return worker.number
