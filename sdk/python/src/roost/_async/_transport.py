"""HTTP: a connection pool, bearer authentication, retries."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote, urlencode

from .. import _problem
from .._clock import Clock
from .._errors import ServerError
from .._http import httpx
from .._settings import Settings
from .._values import parse_json
from .._version import VERSION

__all__ = ["Transport"]

_FIRST_BACKOFF_SECONDS = 0.5
_MAX_BACKOFF_SECONDS = 8.0
# A longer Retry-After is raised as an error instead.
_MAX_RETRY_AFTER_SECONDS = 60.0
_KEEP_ALIVE_SECONDS = 30.0
_RETRIED_STATUSES = frozenset({429, 502, 503, 504})

_PYTHON = ".".join(map(str, sys.version_info[:3]))
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": f"roost-python/{VERSION} python/{'.'.join(map(str, sys.version_info[:3]))}",
}
_HEADERS_WITH_BODY = {**_HEADERS, "Content-Type": "application/json"}


class _Bearer:
    """Adds the API key when a request is sent, to keep it out of other header dictionaries."""

    __slots__ = ("_value",)

    def __init__(self, api_key: str) -> None:
        self._value = f"Bearer {api_key}"

    def __repr__(self) -> str:
        return "<bearer token>"

    def __call__(self, request: httpx.Request) -> httpx.Request:
        request.headers["Authorization"] = self._value
        return request


class Transport:
    """Sends requests and converts failures to `RoostError`.

    Idempotent (`repeatable`) requests are retried, with exponential backoff and full jitter, after
    a connection error, 429, 502, 503 and 504; others only if they were never sent. `Retry-After`
    is respected.
    """

    def __init__(
        self,
        settings: Settings,
        timeout: float,
        max_retries: int,
        http_client: httpx.AsyncClient | None,
    ) -> None:
        self.base_url = settings.base_url
        self.timeout = timeout
        self.clock = Clock()
        self._root = settings.base_url + "/v1"
        self._key_source = settings.key_source
        self._loopback = settings.loopback
        self._auth = _Bearer(settings.api_key)
        self._max_retries = max_retries
        self._owned = http_client is None
        self._http = http_client or self._new_http()
        self._process = os.getpid()

    def _new_http(self) -> httpx.AsyncClient:
        limits = httpx.Limits(
            max_connections=None,
            max_keepalive_connections=100,
            keepalive_expiry=_KEEP_ALIVE_SECONDS,
        )
        if self._loopback:  # no proxy from the environment for this machine
            # Loading the CA certificates takes longer than most commands.
            encrypted = not self.base_url.startswith("http:")
            transport = httpx.AsyncHTTPTransport(verify=encrypted, limits=limits)
            return httpx.AsyncClient(transport=transport)
        return httpx.AsyncClient(limits=limits)

    async def close(self) -> None:
        """Close the connections, unless they belong to the caller's own HTTP client."""
        if self._owned:
            await self._http.aclose()

    async def get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        *,
        read_timeout: float | None = None,
        deadline: float | None = None,
    ) -> Any:
        """GET and parse."""
        return self.parse(
            await self.request(
                "GET", path, params=params, read_timeout=read_timeout, deadline=deadline
            )
        )

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
        read_timeout: float | None = None,
        deadline: float | None = None,
    ) -> httpx.Response:
        """Send a request, with retries, and return a response with a 2xx status.

        `repeatable` is true by default for all methods but POST. No retry starts after `deadline`,
        a time of the clock.
        """
        if repeatable is None:
            repeatable = method != "POST"
        maybe_done = False
        retries = 0
        while True:
            request = self._build(method, path, params, body, headers, read_timeout)
            cause: httpx.TransportError | None = None
            retry_after: float | None = None
            try:
                response = await self._client().send(
                    request, auth=self._auth, follow_redirects=False
                )
                # Break the reference cycle of response and stream, so that both bodies are freed
                # immediately instead of by the garbage collector.
                response.stream = httpx.ByteStream(b"")
            except httpx.TransportError as caught:
                cause = caught
                error = _problem.from_transport(caught, self.base_url, read_timeout or self.timeout)
                never_sent = _was_never_sent(caught)
                again = (repeatable or never_sent) and not _is_permanent(caught)
                maybe_done = maybe_done or not never_sent
            else:
                if response.is_success:
                    return response
                if method == "DELETE" and response.status_code == 404 and maybe_done:
                    return response  # an earlier attempt deleted it and its response was lost
                error = _problem.from_response(response, self._key_source)
                again = repeatable and response.status_code in _RETRIED_STATUSES
                maybe_done = maybe_done or response.status_code != 429
                retry_after = _problem.retry_after(response)
            if not again or retries >= self._max_retries:
                raise error from cause
            delay = self.backoff(retries, retry_after)
            if retry_after is not None and retry_after > _MAX_RETRY_AFTER_SECONDS:
                raise error from cause
            if deadline is not None and self.clock.monotonic() + delay >= deadline:
                raise error from cause
            retries += 1
            await self.clock.asleep(delay)

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        read_timeout: float | None = None,
    ) -> AsyncGenerator[httpx.Response, None]:
        """GET a streamed response. Not retried: only the reader knows the position."""
        request = self._build("GET", path, params, None, headers, read_timeout)
        try:
            response = await self._client().send(
                request, auth=self._auth, follow_redirects=False, stream=True
            )
            try:
                if not response.is_success:
                    await response.aread()
                    raise _problem.from_response(response, self._key_source)
                yield response
            finally:
                await response.aclose()
        except httpx.TransportError as error:
            raise _problem.from_transport(
                error, self.base_url, read_timeout or self.timeout
            ) from error

    def parse(self, response: httpx.Response) -> Any:
        """Return the JSON value of a response."""
        cause: ValueError | None
        try:
            return parse_json(response.content)
        except RecursionError:
            cause, message = None, "the response is nested too deeply"
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            cause = error
            message = (
                f"the response of {self.base_url} is not JSON ({error}); is it a Roost server?"
            )
        except ValueError as error:  # a number of more digits than this Python converts
            cause, message = error, f"the response can't be parsed: {error}"
        raise ServerError(
            message,
            status=response.status_code,
            request_id=response.headers.get("X-Request-Id"),
        ) from cause

    def backoff(self, retries: int, at_least: float | None = None) -> float:
        """Return how long to wait before retry number `retries` (from 0), in seconds."""
        most = min(_MAX_BACKOFF_SECONDS, _FIRST_BACKOFF_SECONDS * 2.0 ** min(retries, 10))
        return (at_least or 0.0) + self.clock.uniform(0.0, most)

    def _client(self) -> httpx.AsyncClient:
        if self._owned and self._process != os.getpid():
            # After a fork, both processes would read from the same sockets. Keep the old client
            # referenced but unused: only the parent may close its sockets.
            self._left_to_parent = self._http
            self._http = self._new_http()
            self._process = os.getpid()
        return self._http

    def _build(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        body: bytes | None,
        headers: Mapping[str, str] | None,
        read_timeout: float | None,
    ) -> httpx.Request:
        url = self._root + path
        if params:
            url += "?" + urlencode(params, quote_via=quote)
        base = _HEADERS if body is None else _HEADERS_WITH_BODY
        # Our own client adds nothing to a request; building it directly is faster.
        build = httpx.Request if self._owned else self._http.build_request
        request = build(method, url, headers={**base, **headers} if headers else base, content=body)
        other = self.timeout
        request.extensions["timeout"] = {
            "connect": other,
            "read": read_timeout or other,
            "write": other,
            "pool": other,
        }
        return request


def _was_never_sent(error: httpx.TransportError) -> bool:
    return isinstance(
        error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
    )


def _is_permanent(error: httpx.TransportError) -> bool:
    if isinstance(error, (httpx.LocalProtocolError, httpx.UnsupportedProtocol)):
        return True
    return "CERTIFICATE_VERIFY_FAILED" in str(error)
