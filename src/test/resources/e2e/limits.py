"""What becomes of keys and values at the edges of what is allowed."""

import math


def keys(store):
    return {
        "empty": "",
        "512 bytes": "é" * 256,
        "513 bytes": "é" * 256 + "k",
        "nul": "a\0b",
        "emoji": "🐣/🪺",
        "half of a surrogate pair": "a\ud800",
        "dots": "../../etc/passwd",
        "encoded slash": "a%2Fb%00",
        "URL": "a/b?c=d#e&f+g h",
        "line break": "a\nb\r\u2028",
        "quotes": "\"'\\",
        "number": 7,
        "None": None,
    }


def values(store):
    return {
        "1 MiB": "x" * ((1 << 20) - 2),
        "1 MiB and a byte": "x" * ((1 << 20) - 1),
        "NaN": [math.nan],
        "infinity": {"a": 1e400},
        "nested 400 times": nested(400),
        "nested 100,000 times": nested(100_000),
        "set": {"a": [1, {2}]},
        "half of a surrogate pair": "\ud800",
        "nul": "a\0b",
        "large number": 10**400,
    }


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def outcome(store, key, value):
    try:
        store.set(key, value)
        found = store[key]
        assert key in store and list(store.items()) == [(key, value)], "it is listed"
        del store[key]
        assert store.get(key, "none") == "none" and not len(store), "it is removed"
        return "fine" if found == value else f"changed: {found!r:.100}"
    except (store.Error, TypeError, ValueError) as error:
        names = [name for name in ("ValueTooLarge", "NotSerializable") if isinstance(error, getattr(store, name))]
        return f"{(names or [type(error).__name__])[0]}: {str(error)[:300]}"


def main(request, store):
    if request.payload == "read":
        return {key: repr(value)[:50] for key, value in store.items()}
    return {
        "keys": {name: outcome(store, key, 1) for name, key in keys(store).items()},
        "values": {name: outcome(store, "key", value) for name, value in values(store).items()},
    }
