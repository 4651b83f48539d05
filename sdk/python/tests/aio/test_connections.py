"""The client's own connections, over real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, Callable

import anyio
import pytest
from support import KEY, entry, job

import roost
from roost import aio

pytestmark = pytest.mark.anyio
TIMEOUT = 60.0

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(text: str) -> bytes:
    return b"%x\r\n%s\r\n" % (len(text.encode()), text.encode())


class HoldingServer:
    """Answers what has an end; holds what hasn't until the other side hangs up."""

    def __init__(self) -> None:
        self.open = 0
        self.seen: list[str] = []
        self.changed = asyncio.Condition()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._count(1)
        try:
            while (line := await reader.readline()) != b"":
                path = line.split()[1].decode()
                await self._read_rest(reader)
                async with self.changed:
                    self.seen.append(path)
                    self.changed.notify_all()
                if "/logs" in path:
                    text = f"event: log\ndata: {json.dumps(entry(1))}\n\n"
                    writer.write(HEAD + chunk(text))
                    await writer.drain()
                elif "wait=" not in path:
                    body = json.dumps({"data": [], "next_cursor": None}).encode()
                    writer.write(
                        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
                    )
                    await writer.drain()
        finally:
            writer.close()
            await self._count(-1)

    async def _read_rest(self, reader: asyncio.StreamReader) -> None:
        length = 0
        while (line := await reader.readline()).strip():
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
        await reader.readexactly(length)

    async def _count(self, change: int) -> None:
        async with self.changed:
            self.open += change
            self.changed.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(condition), TIMEOUT)


@asynccontextmanager
async def serving() -> AsyncGenerator[tuple[HoldingServer, aio.Client], None]:
    holding = HoldingServer()
    server = await asyncio.start_server(holding.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with aio.Client(KEY, f"http://127.0.0.1:{port}") as client:
        yield holding, client
    await holding.until(lambda: holding.open == 0)
    server.close()


async def follow(client: aio.Client) -> None:
    async for _ in aio.Execution(client, {"id": "exec_1"}).logs(follow=True):
        pass


async def follow_slowly(client: aio.Client) -> None:
    async with aio.Execution(client, {"id": "exec_1"}).logs(follow=True) as entries:
        async for _ in entries:
            await anyio.sleep_forever()


async def execute(client: aio.Client) -> None:
    await aio.Agent(client, {"id": "agent_1"}).execute()


async def wait(client: aio.Client) -> None:
    await aio.ExecutorJob(client, job("running")).wait()


@pytest.mark.parametrize("use", [follow, follow_slowly, execute, wait])
async def test_a_cancelled_task_leaves_no_connection_open(
    use: Callable[[aio.Client], Awaitable[None]],
) -> None:
    async with serving() as (server, client):
        task = asyncio.ensure_future(use(client))
        await server.until(lambda: server.open == 1 and len(server.seen) == 1)
        if "follow" in use.__name__:
            await anyio.wait_all_tasks_blocked()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.until(lambda: server.open == 0)
        assert _connections(client) == []


async def test_a_stream_that_is_left_is_closed(anyio_backend: str) -> None:
    async with serving() as (server, client):
        async with aio.Execution(client, {"id": "exec_1"}).logs(follow=True) as entries:
            async for _ in entries:
                break
        await server.until(lambda: server.open == 0)
        assert _connections(client) == []


async def test_a_timeout_around_a_wait_ends_it() -> None:
    async with serving() as (server, client):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(execute(client), 0.05)
        await server.until(lambda: server.open == 0)


async def test_many_requests_at_once_share_few_connections() -> None:
    async with serving() as (server, client):

        async def count() -> int:
            return len([each async for each in client.agents.list()])

        assert await asyncio.gather(*(count() for _ in range(10))) == [0] * 10
        most = server.open
        assert await asyncio.gather(*(count() for _ in range(10))) == [0] * 10
        assert server.open == most <= 10


async def test_nobody_there_says_so() -> None:
    async with aio.Client(KEY, "http://127.0.0.1:9", max_retries=0) as lost:
        with pytest.raises(roost.APIConnectionError, match="Is it running"):
            await lost.runtime()


def _connections(client: aio.Client) -> list[Any]:
    transport: Any = client._transport._http._transport
    return list(transport._pool.connections)
