import datetime
import decimal
import os
import uuid

import psycopg
from psycopg.rows import dict_row

MOST_ROWS = 10_000


def main(request):
    options = request.payload
    with psycopg.connect(os.environ["DATABASE_URL"], row_factory=dict_row, connect_timeout=10) as database:
        database.read_only = True
        seconds = int(options.get("timeout_seconds", 60))
        database.execute("select set_config('statement_timeout', %s, true)", [f"{seconds}s"])
        cursor = database.execute(options["query"], options.get("parameters"))
        rows = cursor.fetchmany(MOST_ROWS + 1)
    if len(rows) > MOST_ROWS:
        raise ValueError(f"the query has more than {MOST_ROWS:,} rows; add a limit or aggregate them")
    print(f"{len(rows)} rows")
    return [{name: as_json(value) for name, value in row.items()} for row in rows]


def as_json(value):
    if isinstance(value, (datetime.date, datetime.datetime, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (datetime.timedelta, uuid.UUID)):
        return str(value)
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).hex()
    return value
