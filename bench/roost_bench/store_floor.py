"""The SQL of a store alone, on the server's own PostgreSQL, in a scratch schema with the same tables.

The statements are copies of those in `Entries`, `Scan` and `Transactions`: when those change, change these, too. What
the server reads besides (may this execution use this store, does it still run) isn't here: this is a floor.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

from roost_bench import statements

STORE = "store_1"
PAGE = 1000
LIVE = "(e.expires_at is null or e.expires_at > statement_timestamp())"

GET = f"""
select e.key, e.value, e.version, e.expires_at, e.updated_at from datastore_entry e
where e.store_id = %s and e.key = %s and {LIVE}"""

SET = """
insert into datastore_entry as e (value, version, updated_at, expires_at, store_id, key)
values (%s, nextval('datastore_version'), statement_timestamp(),
  statement_timestamp() + make_interval(secs => %s), %s, %s)
on conflict (store_id, key) do update set value = excluded.value,
  version = nextval('datastore_version'), updated_at = statement_timestamp(),
  expires_at = excluded.expires_at
returning e.version, not exists (select from datastore_entry b where b.store_id = e.store_id
  and b.key = e.key and (b.expires_at is null or b.expires_at > statement_timestamp()))"""

SCAN = f"""
select * from (
  select i.*, count(*) over () as found,
    sum(octet_length(i.value)) over (order by i.key) - octet_length(i.value) as before
  from (select e.key, e.version, e.expires_at, e.updated_at, e.value from datastore_entry e
    where e.store_id = %s and {LIVE} and e.key >= %s and e.key < %s and e.key > %s
    order by e.key limit %s) i) s
where before < 4194304 order by key"""


class Floor:
    """The statements as a client of `store_work`."""

    name = "the SQL"

    def __init__(self, data: Path) -> None:
        self.connection = statements.connect(data)
        self.connection.prepare_threshold = 0

    def get(self, key: str) -> Optional[str]:
        """The text under the key."""
        row: Any = self.connection.execute(GET, [STORE, key.encode()]).fetchone()
        return None if row is None else row[1]

    def set(self, key: str, value: Any) -> None:
        """Stores in a transaction of its own."""
        self._set(key, value)

    def _set(self, key: str, value: Any) -> int:
        row: Any = self.connection.execute(SET, [json.dumps(value), None, STORE, key.encode()]).fetchone()
        return int(row[0])

    def items(self, prefix: str) -> "Iterator[tuple[str, str]]":
        """Keys and texts."""
        for page in self.pages(prefix, PAGE):
            yield from page

    def pages(self, prefix: str, size: int) -> "Iterator[list[tuple[str, str]]]":
        """The same in pages."""
        low = after = prefix.encode()
        high = low[:-1] + bytes([low[-1] + 1])
        while True:
            rows: Any = self.connection.execute(SCAN, [STORE, low, high, after, size + 1]).fetchall()
            yield [(bytes(row[0]).decode(), row[4]) for row in rows[:size]]
            if len(rows) <= size:
                return
            after = rows[size - 1][0]

    def update(self, pairs: "dict[str, Any]") -> None:
        """Stores all of them in one transaction."""
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.executemany(SET, [[json.dumps(value), None, STORE, key.encode()] for key, value in pairs.items()])

    def plain(self, found: str) -> Any:
        """The value of a text."""
        return json.loads(found)

    def close(self) -> None:
        """Closes the connection."""
        self.connection.close()
