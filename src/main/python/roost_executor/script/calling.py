"""What `main` is called with, and what becomes of what it returns."""

from types import MappingProxyType
from typing import Any

from roost_executor.script.failures import ScriptFailure, bounded
from roost_executor.script.job_files import FILES, Artifacts, InputFiles
from roost_executor.script.jsonvalue import NotJson, decode, encode
from roost_executor.script.request import Request
from roost_executor.script.steps import Steps
from roost_executor.script.store import Store
from roost_executor.script.store_connection import StoreConnection
from roost_executor.script.store_values import KEY_BYTES
from roost_executor.wire.clock import moment


def arguments_of(work: "dict[str, Any]", socket_path: str, steps: Steps) -> "tuple[Any, Any, InputFiles]":
    """The request, the first store or None, and the files of the request. Raises ScriptFailure."""
    key_bytes = work["limits"].get("store_key_bytes", KEY_BYTES)
    stores = {item["name"]: Store(socket_path, item["id"], item["name"], key_bytes) for item in work["stores"]}
    try:
        payload = None if work["payload"] is None else decode(work["payload"])
    except (ValueError, RecursionError) as error:
        raise ScriptFailure("exception", f"Python can't read the payload: {error}", error_type="ValueError") from None
    connection = StoreConnection(socket_path, FILES)
    files = InputFiles(connection, work.get("files", []))
    request = Request(
        steps,
        files,
        Artifacts(connection),
        payload=payload,
        agent_id=work["agent_id"],
        execution_id=work["execution_id"],
        executor_job_id=work["executor_job_id"],
        scheduled=work["scheduled_time"] is not None,
        attempt=work["attempt"],
        deadline=moment(work["deadline"]),
        scheduled_time=moment(work["scheduled_time"]),
        stores=MappingProxyType(stores),
    )
    return request, next(iter(stores.values()), None), files


def returned(value: object, limit: int) -> "dict[str, Any]":
    """The record of what `main` has returned. `limit`: of its JSON, in bytes. Raises ScriptFailure."""
    try:
        text = encode(value)
    except NotJson as error:
        raise ScriptFailure("not_json", f"return value: {error}") from None
    if len(text) > limit:
        raise ScriptFailure(
            "return_value_too_large",
            f"the return value is {len(text):,} bytes of JSON; the limit is {limit:,}. "
            "Store large results elsewhere and return a reference",
        )
    return {"value": text}


def exited(error: SystemExit) -> "dict[str, Any]":
    """The record of a script that has called `sys.exit`. Raises ScriptFailure unless that was a success."""
    if error.code is None or (error.code == 0 and isinstance(error.code, int)):
        return {"value": "null"}
    shown = error.code if isinstance(error.code, (int, str)) else str(error.code)
    raise ScriptFailure(
        "exited",
        f"the script called sys.exit({bounded(repr(shown), 1000)})",
        print_text=None if isinstance(shown, int) else bounded(shown),
    ) from None
