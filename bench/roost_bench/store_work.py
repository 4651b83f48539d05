"""What is measured of stores: the same work, checked in the same way, for every client.

It is also the agent's script, so it imports the standard library alone and brings a `main`.

A client has `get(key)`, `set(key, value)`, `increment(key)`, `transfer(source, target)`, `items(prefix)`,
`update(pairs)` and `plain(found)`, which makes a value of what `get` and `items` give; some have `commit`, `version`,
`pages`, `export` and `load` (of lines) as well. An order is a dict: `operation`, `count` (how many times), `entries`
(how many there are to read) and `seed`.
"""

import json
import random
import time

READ = "entry/"
UPDATED = 1000
BATCH = 1000
PAGE = 200
ACCOUNTS = [f"account/{number:03d}" for number in range(100)]
BALANCE = 1000
COUNTER = "count/one"
WARM_UP = 3


def value(number):
    """What is stored: about a hundred bytes."""
    return {"number": number, "name": f"user {number}", "text": "all work and no play makes a dull entry, it is said"}


def key(number):
    """The key of one of the entries that are only read."""
    return f"{READ}{number:07d}"


def expect(found, wanted):
    """Raises ValueError unless they are equal."""
    if found != wanted:
        raise ValueError(f"found {str(found)[:200]!r}, not {str(wanted)[:200]!r}")


def timed(function, *arguments):
    """Seconds of a call, and what it returned."""
    began = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - began, result


def fill(client, order):
    """Stores what the others read."""
    pairs = {key(number): value(number) for number in range(order["entries"])}
    pairs.update(dict.fromkeys(ACCOUNTS, BALANCE))
    return [timed(store, client, pairs)[0]]


def store(client, pairs):
    """Updates in batches."""
    keys = list(pairs)
    for begin in range(0, len(keys), BATCH):
        client.update({key: pairs[key] for key in keys[begin : begin + BATCH]})


def get(client, order):
    """One entry after another."""
    seconds = []
    for _ in range(order["count"]):
        number = random.randrange(order["entries"])
        took, found = timed(client.get, key(number))
        seconds.append(took)
        expect(client.plain(found), value(number))
    return seconds


def set_(client, order):
    """Mostly over entries that are there already."""
    seconds, written = [], {}
    for _ in range(order["count"]):
        name, number = f"set/{random.randrange(1000):03d}", random.randrange(10**6)
        seconds.append(timed(client.set, name, value(number))[0])
        written[name] = value(number)
    for name, wanted in written.items():
        expect(client.plain(client.get(name)), wanted)
    return seconds


def increment(client, order):
    """One counter, by one."""
    seconds = []
    found = client.get(COUNTER)
    before = 0 if found is None else client.plain(found)
    for number in range(order["count"]):
        took, now = timed(client.increment, COUNTER)
        seconds.append(took)
        expect(now, before + number + 1)
    return seconds


def transaction(client, order):
    """Reads two accounts, writes both."""
    seconds = []
    balances = {name: client.plain(client.get(name)) for name in random.sample(ACCOUNTS, 10)}
    for _ in range(order["count"]):
        source, target = random.sample(sorted(balances), 2)
        seconds.append(timed(client.transfer, source, target)[0])
        balances[source] -= 1
        balances[target] += 1
    for name, wanted in balances.items():
        expect(client.plain(client.get(name)), wanted)
    return seconds


def commit(client, order):
    """The end of a transaction alone: the versions of two accounts are known, both are written."""
    seconds = []
    names = random.sample(ACCOUNTS, 10)
    balances = {name: client.plain(client.get(name)) for name in names}
    versions = {name: client.version(name) for name in names}
    for _ in range(order["count"]):
        source, target = random.sample(names, 2)
        balances[source] -= 1
        balances[target] += 1
        reads = {name: versions[name] for name in (source, target)}
        took, new = timed(client.commit, reads, {name: balances[name] for name in (source, target)})
        seconds.append(took)
        versions.update(zip((source, target), new))
    for name, wanted in balances.items():
        expect((client.plain(client.get(name)), client.version(name)), (wanted, versions[name]))
    return seconds


def iterate(client, order):
    """Seconds of an entry, of all that are there."""
    seconds, pairs = timed(lambda: list(client.items(READ)))
    return checked(client, order, seconds, pairs)


def export(client, order):
    """The same, as an export."""
    seconds, found = timed(client.export, READ)
    return checked(client, order, seconds, client.exported(found))


def checked(client, order, seconds, pairs):
    """Seconds of an entry, when all are there."""
    expect(
        {name: client.plain(found) for name, found in pairs},
        {key(number): value(number) for number in range(order["entries"])},
    )
    return [seconds / order["entries"]]


def pages(client, order):
    """Seconds of each page but the last."""
    seconds, pairs = [], []
    listing = client.pages(READ, PAGE)
    while len(pairs) < order["entries"]:
        took, page = timed(next, listing)
        seconds.append(took)
        pairs += page
    checked(client, order, 0, pairs)
    return seconds[:-1]


def update(client, order):
    """A thousand pairs in one call."""
    pairs = {f"update/{number:04d}": value(random.randrange(10**6)) for number in range(UPDATED)}
    seconds = timed(client.update, pairs)[0]
    for name in random.sample(sorted(pairs), 10):
        expect(client.plain(client.get(name)), pairs[name])
    return [seconds]


def load(client, order):
    """Seconds of an entry, of as many as are there for reading, under other keys."""
    pairs = {f"load/{number:07d}": value(random.randrange(10**6)) for number in range(order["entries"])}
    lines = "".join(json.dumps({"key": name, "value": pairs[name]}) + "\n" for name in pairs)
    seconds = timed(client.load, lines.encode(), pairs)[0]
    for name in random.sample(sorted(pairs), 10):
        expect(client.plain(client.get(name)), pairs[name])
    return [seconds / order["entries"]]


OPERATIONS = {
    "fill": fill,
    "get": get,
    "set": set_,
    "increment": increment,
    "transaction": transaction,
    "commit": commit,
    "iterate": iterate,
    "update": update,
    "pages": pages,
    "export": export,
    "import": load,
}


def run(client, order):
    """Does the work; the seconds of each time, and of the very first operation, which connects."""
    random.seed(order["seed"])
    first = timed(client.get, ACCOUNTS[0])[0]
    for number in range(WARM_UP):
        client.set(f"warm/{number}", number)
        expect(client.plain(client.get(f"warm/{number}")), number)
    return {"first": first, "seconds": OPERATIONS[order["operation"]](client, order)}


def press(client, kind, place):
    """What one of several clients does over and over: a function of the number of the time."""
    if kind == "increment":
        return lambda number: client.increment("count/all")
    return lambda number: client.set(f"press/{place}/{number % 100}", value(number))


def pressed(client, order):
    """How often that was done since a given time of the machine's clock."""
    once = press(client, order["kind"], order["place"])
    client.get(ACCOUNTS[0])
    left = order["begin"] - time.time()
    if left < 0:
        raise TimeoutError(f"this execution began {-left:.1f} s too late to be counted")
    time.sleep(left)
    began = time.perf_counter()
    count = 0
    while time.perf_counter() - began < order["seconds"]:
        once(count)
        count += 1
    return {"count": count, "seconds": time.perf_counter() - began}


class Script:
    """The store of a script as a client."""

    def __init__(self, store):
        self.store = store
        self.get = store.get
        self.set = store.set
        self.increment = getattr(store, "increment", None)
        self.items = store.items
        self.update = store.update

    def transfer(self, source, target):
        """Moves one from here to there."""
        with self.store.transaction() as change:
            change[source] -= 1
            change[target] += 1

    def plain(self, found):
        """It is a value already."""
        return found


def main(request, store):
    """Does what the payload says, in an execution."""
    order = request.payload
    return (pressed if order["operation"] == "press" else run)(Script(store), order)
