"""The stores of the control plane for tests: the operations of docs/executor-link.md, in memory."""

import datetime
import decimal
import hashlib
import json
import threading
import time
from typing import Any, Optional

VALUE_BYTES = 1024 * 1024
KEY_BYTES = 512
WRITES = ("set", "delete", "pop", "increment", "clear", "transaction", "unlock")
OWN_FIELDS = {
    "get": {"key"},
    "set": {"key", "value", "ttl"},
    "delete": {"key"},
    "pop": {"key"},
    "increment": {"key", "amount"},
    "count": {"prefix"},
    "scan": {"prefix", "after", "limit", "values"},
    "clear": set(),
    "transaction": {"reads", "ranges", "writes"},
    "lock": {"name", "holder", "ttl", "wait"},
    "renew": {"name", "holder", "ttl"},
    "unlock": {"name", "holder"},
}


class Refused(Exception):
    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.answer = status, {"code": code, "detail": detail}


def without_duplicates(pairs: "list[tuple[str, Any]]") -> "dict[str, Any]":
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name twice")
    return found


class Stores:
    """`entries[store id][key]` is (JSON text, version, monotonic time of its expiry or None)."""

    def __init__(self, changed: threading.Condition) -> None:
        self.changed = changed
        self.entries: dict[str, dict[str, tuple[str, int, Optional[float]]]] = {}
        self.locks: dict[tuple[str, str], dict[str, Any]] = {}
        self.lost: dict[str, set[str]] = {}
        self.receipts: dict[str, tuple[int, Any]] = {}
        self.applied: list[str] = []
        self.renewals = 0
        self.version = 0

    def put(self, store: str, key: str, text: str, ttl: Optional[float] = None) -> None:
        """What somebody else stores."""
        with self.changed:
            self._set(self.entries.setdefault(store, {}), key, text, ttl)

    def take_lock(self, store: str, name: str) -> None:
        """Somebody else takes a lock, as if its lease were over."""
        with self.changed:
            self._take(store, name, "somebody else", "exec_other", 1000.0)
            self.changed.notify_all()

    def end(self, execution: str) -> None:
        """The execution has ended."""
        self.locks = {name: lock for name, lock in self.locks.items() if lock["execution"] != execution}
        self.changed.notify_all()

    def operate(self, store: str, body: bytes) -> Any:
        """Status and content of the answer to an operation."""
        try:
            question = json.loads(body, object_pairs_hook=without_duplicates)
        except ValueError as error:
            return 400, {"code": "malformed_json", "detail": str(error)}
        operation = question["op"]
        execution = question.pop("execution_id")
        with self.changed:
            if operation not in WRITES:
                return self._answer(store, execution, question)
            channel, seq = question.pop("channel"), question.pop("seq")
            assert 1 <= len(channel) <= 64
            last, answer = self.receipts.get(channel, (0, None))
            if seq == last:
                return answer
            assert seq > last, "an old write came late"
            answer = self._answer(store, execution, question)
            self.receipts[channel] = seq, answer
            self.applied.append(operation)
            self.changed.notify_all()
            return answer

    def _answer(self, store: str, execution: str, question: "dict[str, Any]") -> Any:
        operation = question.pop("op")
        try:
            if set(question) != OWN_FIELDS[operation]:
                raise Refused(422, "validation_failed", f"the fields are {sorted(question)}")
            if operation in WRITES and operation != "unlock" and self.lost.get(execution):
                raise Refused(409, "lock_lost", "the execution has lost a lock")
            if operation in ("lock", "renew", "unlock"):
                return 200, getattr(self, f"_{operation}_op")(store, execution, **question)
            live = self.entries.setdefault(store, {})
            for key in [key for key, entry in live.items() if entry[2] is not None and entry[2] <= time.monotonic()]:
                del live[key]
            return 200, getattr(self, f"_{operation}_op")(live, **question)
        except Refused as refused:
            return refused.answer

    def _set(self, live: Any, key: str, text: str, ttl: Optional[float], expires: Optional[float] = None) -> int:
        if len(text.encode()) > VALUE_BYTES:
            raise Refused(413, "too_large", "the value is over 1 MiB")
        if not 0 < len(key.encode()) <= KEY_BYTES:
            raise Refused(422, "validation_failed", "the key")
        json.loads(text, parse_int=decimal.Decimal)
        self.version += 1
        live[key] = text, self.version, expires if ttl is None else time.monotonic() + ttl
        return self.version

    def _get_op(self, live: Any, key: str) -> Any:
        text, version, expires = live.get(key, (None, 0, None))
        if expires is not None:
            moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(
                seconds=expires - time.monotonic()
            )
            expires = moment.isoformat().replace("+00:00", "Z")
        return {"value": text, "version": version, "expires_at": expires}

    def _set_op(self, live: Any, key: str, value: str, ttl: Optional[float]) -> Any:
        return {"version": self._set(live, key, value, ttl)}

    def _delete_op(self, live: Any, key: str) -> Any:
        _, version, _ = live.pop(key, (None, 0, None))
        return {"deleted": version > 0, "version": version}

    def _pop_op(self, live: Any, key: str) -> Any:
        text, version, _ = live.pop(key, (None, 0, None))
        return {"value": text, "version": version}

    def _increment_op(self, live: Any, key: str, amount: str) -> Any:
        text, _, expires = live.get(key, (None, 0, None))
        if text is None:
            return {"value": amount, "version": self._set(live, key, amount, None)}
        if not isinstance(json.loads(text, parse_int=decimal.Decimal), (decimal.Decimal, float)):
            raise Refused(422, "validation_failed", f"the value of {key} is no number")
        with decimal.localcontext(decimal.Context(prec=10_000)):
            total = f"{decimal.Decimal(text) + decimal.Decimal(amount):f}"
        return {"value": total, "version": self._set(live, key, total, None, expires)}

    def _count_op(self, live: Any, prefix: str) -> Any:
        return {"count": sum(key.startswith(prefix) for key in live)}

    def _scan_op(self, live: Any, prefix: str, after: Optional[str], limit: int, values: bool) -> Any:
        assert 1 <= limit <= 1000
        keys = sorted(k for k in live if k.startswith(prefix) and (after is None or k > after))
        page = keys[:limit]
        found = [{"key": k, "value": live[k][0] if values else None, "version": live[k][1]} for k in page]
        return {"entries": found, "next": page[-1] if len(keys) > len(page) else None}

    def _clear_op(self, live: Any) -> Any:
        count = len(live)
        live.clear()
        return {"deleted": count}

    def _transaction_op(self, live: Any, reads: Any, ranges: Any, writes: Any) -> Any:
        if len(reads) + len(ranges) + len(writes) > 10_000:
            raise Refused(413, "too_large", "the transaction has over 10,000 parts")
        for read in reads:
            if live.get(read["key"], ("", 0, None))[1] != read["version"]:
                raise Refused(409, "conflict", f"{read['key']!r} has changed")
        for part in ranges:
            assert set(part) <= {"prefix", "through", "tag", "count"} and ("tag" in part) != ("count" in part)
            keys = sorted(k for k in live if k.startswith(part["prefix"]) and k <= part.get("through", k))
            tag = hashlib.sha256("".join(f"{live[k][1]}\n" for k in keys).encode()).hexdigest()
            if part.get("tag", tag) != tag or part.get("count", len(keys)) != len(keys):
                raise Refused(409, "conflict", f"the range {part['prefix']!r} has changed")
        assert len({write["key"] for write in writes}) == len(writes)
        before = dict(live)
        try:
            return {"versions": [self._do(live, write) for write in writes]}
        except Refused:
            live.clear()
            live.update(before)
            raise

    def _do(self, live: Any, write: "dict[str, Any]") -> int:
        if write.get("delete"):
            live.pop(write["key"], None)
            return 0
        if "increment" in write:
            return int(self._increment_op(live, write["key"], write["increment"])["version"])
        return self._set(live, write["key"], write["value"], write["ttl"])

    def _take(self, store: str, name: str, holder: str, execution: str, ttl: float) -> None:
        current = self.locks.get((store, name))
        if current and current["holder"] != holder:
            self.lost.setdefault(current["execution"], set()).add(current["holder"])
        end = time.monotonic() + ttl
        self.locks[store, name] = {"holder": holder, "execution": execution, "end": end}

    def _lock_op(self, store: str, execution: str, name: str, holder: str, ttl: float, wait: float) -> Any:
        assert 0 <= wait <= 20 and ttl > 0
        give_up = time.monotonic() + wait
        while True:
            current = self.locks.get((store, name))
            now = time.monotonic()
            if current is None or current["holder"] == holder or current["end"] <= now:
                self._take(store, name, holder, execution, ttl)
                self.changed.notify_all()
                return {"acquired": True}
            if now >= give_up:
                return {"acquired": False}
            self.changed.wait(min(give_up, current["end"]) - now)

    def _renew_op(self, store: str, execution: str, name: str, holder: str, ttl: float) -> Any:
        current = self.locks.get((store, name))
        held = current is not None and current["holder"] == holder
        if held:
            self._take(store, name, holder, execution, ttl)
        self.renewals += 1
        self.changed.notify_all()
        return {"held": held}

    def _unlock_op(self, store: str, execution: str, name: str, holder: str) -> Any:
        self.lost.get(execution, set()).discard(holder)
        current = self.locks.get((store, name))
        released = current is not None and current["holder"] == holder
        if released:
            del self.locks[store, name]
            self.changed.notify_all()
        return {"released": released}
