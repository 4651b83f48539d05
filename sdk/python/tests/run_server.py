"""A server that runs an agent's jobs in memory, and records them in its log of events.

Time passes only here: whoever reads the stream of events makes the jobs go on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Callable, Optional

import httpx
from support import KEY, TIME, URL, FakeClock, agent, execution, job, problem

import roost

Hook = Callable[[httpx.Request], Optional[httpx.Response]]
ENDED = ("succeeded", "failed", "cancelled")


class RunServer:
    """`concurrency` jobs end in each step of the stream; `steps` is called before each.

    The return value is that of `main`, called with the payload; what it raises is the failure.
    `before` sees each request first and may answer or fail; `lost` answers to POST get lost after.
    """

    def __init__(self) -> None:
        self.main: Callable[[Any], Any] = lambda payload: payload
        self.concurrency = 10
        self.queue_most = 10_000
        self.jobs: dict[str, dict[str, Any]] = {}
        self.events: list[dict[str, Any]] = []
        self.removed_to = 0
        self.hidden: set[int] = set()  # positions that no reader is shown
        self.requests: list[httpx.Request] = []
        self.before: Hook = lambda request: None
        self.before_step: Callable[[], None] = lambda: None
        self.one_by_one = False  # whether each event comes as a piece of its own
        self.lost = 0
        self.open_streams = 0
        self.order: Callable[[list[str]], list[str]] = lambda ids: ids
        self.clock = FakeClock()
        self._answers: dict[str, tuple[bytes, dict[str, Any]]] = {}
        http = httpx.Client(transport=httpx.MockTransport(self._handle))
        self.client = roost.Client(KEY, URL, http_client=http)
        self.client._transport.clock = self.clock
        self.agent = roost.Agent(self.client, agent())

    def sent(self, method: str, path: str) -> list[httpx.Request]:
        kind = (method, "/v1" + path)
        return [each for each in self.requests if (each.method, each.url.path) == kind]

    def batches(self) -> list[list[Any]]:
        return [
            json.loads(request.content)["payloads"]
            for request in self.sent("POST", "/agents/agent_1/execute-batch")
        ]

    def states(self) -> list[str]:
        return [each["state"] for each in self.jobs.values()]

    def run(self, count: int | None = None) -> None:
        """End the next jobs that wait."""
        waiting = [id_ for id_, each in self.jobs.items() if each["state"] == "queued"]
        for job_id in self.order(waiting)[: self.concurrency if count is None else count]:
            self._run(job_id)

    def note(self, kind: str, subject: str, data: dict[str, Any] | None = None) -> int:
        """Put an event into the log; return its position."""
        position = len(self.events) + 1
        self.events.append(
            {
                "id": str(position),
                "type": kind,
                "subject": subject,
                "agent_id": "agent_1",
                "time": TIME,
                "data": data or {},
            }
        )
        return position

    def _run(self, job_id: str) -> None:
        data = self.jobs[job_id]
        try:
            value = self.main(data["payload"])
            run = execution(id="exec_" + job_id, executor_job_id=job_id, return_value=value)
            self._end(job_id, "succeeded", None, run)
        except Exception as error:
            details = {"type": type(error).__name__, "message": str(error)}
            run = execution(id="exec_" + job_id, state="failed", reason="exception", error=details)
            self._end(job_id, "failed", "exception", {**run, "return_value": None})

    def _end(self, job_id: str, state: str, reason: str | None, run: Any) -> None:
        fields = {"state": state, "reason": reason, "execution": run, "finished_at": TIME}
        self.jobs[job_id].update(fields)
        self.note(f"executor_job.{state}", job_id, {"id": job_id, "state": state})

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.before(request)
        if answer is None:
            answer = self._answer(request)
            if self.lost and request.method == "POST":
                self.lost -= 1
                raise httpx.ReadError("reset")
        return answer

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path[len("/v1") :]
        if path == "/agents/agent_1/execute-batch":
            return self._execute_batch(request)
        if path == "/events":
            return self._events(request)
        if path == "/executor-jobs":
            return self._list(request.url.params)
        if path == "/executor-jobs/cancel":
            return self._cancel_batch(json.loads(request.content))
        job_id = path.split("/")[2]
        if path.endswith("/cancel") and self.jobs[job_id]["state"] not in ENDED:
            self._end(job_id, "cancelled", "cancelled", None)
        return httpx.Response(200, json=self.jobs[job_id])

    def _cancel_batch(self, batch: Any) -> httpx.Response:
        ended = [*ENDED] if batch["running"] else [*ENDED, "running"]
        for job_id, each in self.jobs.items():
            if each["batch_id"] == batch["batch_id"] and each["state"] not in ended:
                self._end(job_id, "cancelled", "cancelled", None)
        return httpx.Response(200, json={"cancelled": 0, "stopping": 0})

    def _execute_batch(self, request: httpx.Request) -> httpx.Response:
        key = request.headers["Idempotency-Key"]
        if key in self._answers:
            body, answer = self._answers[key]
            assert body == request.content
            return httpx.Response(200, json=answer)
        batch = json.loads(request.content)
        waiting = self.states().count("queued")
        if waiting + len(batch["payloads"]) > self.queue_most:
            return problem(429, "queue_full", headers={"Retry-After": "5"})
        before = len(self.events)
        ids = [f"xjob_{len(self.jobs) + n:06}" for n, _ in enumerate(batch["payloads"])]
        for job_id, payload in zip(ids, batch.pop("payloads")):
            self.jobs[job_id] = job("queued", id=job_id, payload=payload, batch_id=ids[0], **batch)
            self.note("executor_job.queued", job_id)
        answer = {"batch_id": ids[0], "executor_job_ids": ids, "last_event_id": str(before)}
        self._answers[key] = (request.content, answer)
        return httpx.Response(201, json=answer)

    def _list(self, params: httpx.QueryParams) -> httpx.Response:
        limit = int(params.get("limit", "50"))
        found = [
            each
            for each in reversed(self.jobs.values())
            if params.get("batch_id", each["batch_id"]) == each["batch_id"]
            and params.get("state", each["state"]) == each["state"]
            and ("cursor" not in params or each["id"] < params["cursor"])
        ]
        more = found[limit - 1]["id"] if len(found) > limit else None
        return httpx.Response(200, json={"data": found[:limit], "next_cursor": more})

    def _events(self, request: httpx.Request) -> httpx.Response:
        stream = request.headers["Accept"] == "text/event-stream"
        given = request.headers.get("Last-Event-ID", request.url.params.get("after"))
        after = (len(self.events) if stream else 0) if given is None else int(given)
        if 0 < after < self.removed_to:
            return problem(410, "gone", "removed")
        if stream:
            headers = {"Content-Type": "text/event-stream"}
            body = _Stream(self, after, request)
            return httpx.Response(200, headers=headers, stream=body)
        page = self.after(after, request)[: int(request.url.params["limit"])]
        return httpx.Response(200, json={"data": page, "next_cursor": None})

    def after(self, position: int, request: httpx.Request) -> list[dict[str, Any]]:
        """Return the events after that one that the request asks for."""
        types = request.url.params.get("types")
        return [
            event
            for event in self.events[position:]
            if (types is None or event["type"] in types.split(","))
            and int(event["id"]) not in self.hidden
        ]


class _Stream(httpx.SyncByteStream):
    """A step of the jobs, then what that brought, again and again."""

    def __init__(self, server: RunServer, position: int, request: httpx.Request) -> None:
        self._server, self._position, self._request = server, position, request

    def __iter__(self) -> Iterator[bytes]:
        server = self._server
        server.open_streams += 1
        yield b":still here\nid:%d\n\n" % self._position
        silence = self._request.extensions["timeout"]["read"]
        while True:
            events = server.after(self._position, self._request)
            if not events:
                server.before_step()
                server.run()
                events = server.after(self._position, self._request)
            if events:
                texts = [_text(event).encode() for event in events]
                yield from texts if server.one_by_one else [b"".join(texts)]
            elif silence < 15:
                server.clock.now += silence
                raise httpx.ReadTimeout("silence")
            else:
                server.clock.now += 15
                yield b":still here\nid:%d\n\n" % len(server.events)
            self._position = len(server.events)

    def close(self) -> None:
        self._server.open_streams -= 1


def _text(event: dict[str, Any]) -> str:
    return f"id:{event['id']}\nevent:{event['type']}\ndata:{json.dumps(event)}\n\n"
