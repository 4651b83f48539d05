"""A clock that never waits, and a server that is a function."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, Callable, cast

import anyio.lowlevel
import httpx

import roost
from roost import aio
from roost._clock import Clock

KEY = "roost_k3y1d_s3cretS3cretS3cret"
URL = "http://roost.test:8080"
TIME = "2026-11-02T09:00:00.000001Z"

Handler = Callable[[httpx.Request], httpx.Response]


class FakeClock(Clock):
    """Sleeping takes no time and moves the hands; a random number is always the highest."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)
        await anyio.lowlevel.checkpoint()

    def uniform(self, low: float, high: float) -> float:
        return high


class Server:
    """Answers with what is given to `on`, in turn (the last one for ever), and keeps requests."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self._answers: dict[tuple[str, str], list[Any]] = {}
        self.clock = FakeClock()
        self.client = roost.Client(
            KEY, URL, http_client=httpx.Client(transport=httpx.MockTransport(self._handle))
        )
        self.client._transport.clock = self.clock

    def on(self, method: str, path: str, *answers: Any) -> None:
        self._answers[method, "/v1" + path] = list(answers)

    def sent(self, method: str, path: str) -> list[httpx.Request]:
        return [
            request
            for request in self.requests
            if (request.method, _path(request)) == (method, "/v1" + path)
        ]

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answers = self._answers.get((request.method, _path(request)))
        if not answers:
            return problem(404, "not_found", f"no {request.method} {_path(request)} here")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx.Response):
            return answer
        return httpx.Response(200, json=answer)


def _path(request: httpx.Request) -> str:
    return request.url.raw_path.decode().partition("?")[0]


def problem(
    status: int,
    code: str,
    detail: str = "",
    errors: list[dict[str, Any]] | None = None,
    headers: dict[str, str] | None = None,
) -> httpx.Response:
    body = {
        "type": f"/docs/errors#{code}",
        "title": "A title",
        "status": status,
        "code": code,
        "detail": detail,
        "errors": errors or [],
        "request_id": "req_1",
    }
    return httpx.Response(
        status,
        content=json.dumps(body),
        headers={"Content-Type": "application/problem+json", **(headers or {})},
    )


def agent(**fields: Any) -> dict[str, Any]:
    return {
        "id": "agent_1",
        "name": "greeter",
        "script": "def main(): pass",
        "requirements": "Jinja2==3.1.4\n",
        "env_vars": "TOKEN=hush-hush\nEMPTY=\n",
        "python_version": "3.9",
        "store_ids": ["store_1"],
        "revision": 1,
        "build_id": None,
        "latest_builder_job_id": "bjob_1",
        "created_at": TIME,
        "updated_at": TIME,
        "a_field_of_the_future": 1,
        **fields,
    }


def execution(**fields: Any) -> dict[str, Any]:
    return {
        "id": "exec_1",
        "executor_job_id": "xjob_1",
        "agent_id": "agent_1",
        "attempt": 1,
        "state": "succeeded",
        "reason": None,
        "message": None,
        "error": None,
        "return_value": {"n": 42},
        "started_at": TIME,
        "finished_at": TIME,
        "cold_start": True,
        "timings": {"queued": 0.1, "starting": 0.2, "running": 0.3, "of_the_future": 1},
        "usage": {"cpu_seconds": 0.1, "max_memory_bytes": 1},
        **fields,
    }


def job(state: str = "succeeded", **fields: Any) -> dict[str, Any]:
    ended = state in ("succeeded", "failed", "cancelled")
    return {
        "id": "xjob_1",
        "agent_id": "agent_1",
        "state": state,
        "reason": None,
        "message": None,
        "attempts": 1 if ended else 0,
        "execution": execution() if ended else None,
        "created_at": TIME,
        "finished_at": TIME if ended else None,
        **fields,
    }


def builder_job(state: str, **fields: Any) -> dict[str, Any]:
    ended = state in ("succeeded", "failed", "cancelled")
    return {
        "id": "bjob_1",
        "agent_id": "agent_1",
        "state": state,
        "reason": None,
        "message": None,
        "finished_at": TIME if ended else None,
        **fields,
    }


def issue(state: str = "open", **fields: Any) -> dict[str, Any]:
    return {
        "id": "issue_1",
        "agent_id": "agent_1",
        "state": state,
        "regressed": False,
        "title": "KeyError: 'price'",
        "reason": "exception",
        "exception_type": "KeyError",
        "culprit": {"file": "agent.py", "function": "total", "line": 7, "of_the_future": 1},
        "count": 43,
        "first_seen_at": TIME,
        "last_seen_at": TIME,
        "first_revision": 2,
        "last_revision": 3,
        "last_execution_id": "exec_1",
        "resolved_at": TIME if state == "resolved" else None,
        "hours": None,
        "revisions": None,
        "a_field_of_the_future": 1,
        **fields,
    }


def replay(**fields: Any) -> dict[str, Any]:
    return {
        "preview": False,
        "count": 1,
        "succeeded": 0,
        "pending": 0,
        "cancelled": 0,
        "more": False,
        "batch_id": "xjob_2",
        "jobs": [{"executor_job_id": "xjob_1", "replayed_as": "xjob_2", "of_the_future": 1}],
        "a_field_of_the_future": 1,
        **fields,
    }


def rollout(state: str, *, automatic: bool = True, **counts: int) -> dict[str, Any]:
    known = ("queued", "building", "updated", "failed", "skipped", "undone")
    ended = state in ("completed", "undone")
    return {
        "id": "rollout_1",
        "state": state,
        "automatic": automatic,
        "message": None,
        "agents": {"total": sum(counts.values()), **dict.fromkeys(known, 0), **counts},
        "created_at": TIME,
        "finished_at": TIME if ended else None,
        "a_field_of_the_future": 1,
    }


def rollout_agent(state: str, **fields: Any) -> dict[str, Any]:
    return {
        "agent_id": "agent_1",
        "agent_name": "greeter",
        "state": state,
        "from_builder_job_id": "bjob_1",
        "to_builder_job_id": "bjob_2",
        "message": None,
        "updated_at": TIME,
        "a_field_of_the_future": 1,
        **fields,
    }


def entry(seq: int, message: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "seq": seq,
        "time": TIME,
        "stream": "stdout",
        "level": None,
        "logger": None,
        "message": message or f"line {seq}",
        "continued": False,
        **fields,
    }


class Stream(httpx.SyncByteStream):
    """A body that comes in pieces and may break off."""

    def __init__(self, *parts: Any) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            if isinstance(part, Exception):
                raise part
            yield part.encode()


def stream(*parts: Any) -> httpx.Response:
    headers = {"Content-Type": "text/event-stream"}
    return httpx.Response(200, headers=headers, stream=Stream(*parts))


class _Awaited(httpx.AsyncByteStream):
    """The body of an answer, for a client that awaits it."""

    def __init__(self, body: httpx.SyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in cast("Iterable[bytes]", self._body):
            await anyio.lowlevel.checkpoint()
            yield part

    async def aclose(self) -> None:
        self._body.close()


class _AwaitedTransport(httpx.AsyncBaseTransport):
    def __init__(self, handle: Handler) -> None:
        self._handle = handle

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await anyio.lowlevel.checkpoint()
        response = self._handle(request)
        response.stream = _Awaited(cast("httpx.SyncByteStream", response.stream))
        return response


def aio_client(handle: Handler, clock: FakeClock) -> aio.Client:
    """Return an asynchronous client of a server that is a function."""
    http = httpx.AsyncClient(transport=_AwaitedTransport(handle))
    client = aio.Client(KEY, URL, http_client=http)
    client._transport.clock = clock
    return client


def search_match(seq: int | None, **fields: Any) -> dict[str, Any]:
    line = {"time": TIME, "stream": "stdout", "level": None}
    parts = [("the ", False), ("connection", True), (" ", False), ("reset", True)]
    return {
        "in": "logs",
        "execution_id": "exec_1",
        "agent_id": "agent_1",
        "agent_name": "billing",
        "time": TIME,
        "seq": seq,
        "stream": "stdout",
        "level": None,
        "fragments": [{"text": text, "match": match} for text, match in parts],
        "truncated": False,
        "before": [{"seq": 2, "text": "before", **line}],
        "after": [{"seq": 4, "text": "after", **line}],
        "path": f"/executions/exec_1?line={seq}",
        **fields,
    }


def search_page(*matches: dict[str, Any], **fields: Any) -> dict[str, Any]:
    page = {"next_cursor": None, "timed_out": False, "indexed_from": None}
    return {"data": list(matches), **page, **fields}
