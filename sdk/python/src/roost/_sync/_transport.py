# Made by generate.py from src/roost/_async/_transport.py; change that.
"""HTTP: one pooled connection set, bearer authentication, retries."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
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

_BACKOFF_FIRST_SECONDS = 0.5
_BACKOFF_MOST_SECONDS = 8.0
# A server that asks for more than this is better told about to the caller than waited for.
_RETRY_AFTER_MOST_SECONDS = 60.0
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
    """Adds the API key at the last moment, so that no header dictionary elsewhere holds it."""

    __slots__ = ("_value",)

    def __init__(self, api_key: str) -> None:
        self._value = f"Bearer {api_key}"

    def __repr__(self) -> str:
        return "<bearer token>"

    def __call__(self, request: httpx.Request) -> httpx.Request:
        request.headers["Authorization"] = self._value
        return request


class Transport:
    """Sends requests and turns every failure into a `RoostError`.

    A request is sent again, with exponential backoff and full jitter, after a connection error,
    429, 502, 503 and 504 when doing it twice is the same as doing it once (`repeatable`); any
    other is sent again only when there was no connection to send it on. `Retry-After` is kept to.
    """

    def __init__(
        self,
        settings: Settings,
        timeout: float,
        max_retries: int,
        http_client: httpx.Client | None,
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

    def _new_http(self) -> httpx.Client:
        limits = httpx.Limits(
            max_connections=None,
            max_keepalive_connections=100,
            keepalive_expiry=_KEEP_ALIVE_SECONDS,
        )
        if self._loopback:  # a proxy from the environment can't reach this machine
            # Reading the certificates of all authorities takes longer than most commands.
            encrypted = not self.base_url.startswith("http:")
            transport = httpx.HTTPTransport(verify=encrypted, limits=limits)
            return httpx.Client(transport=transport)
        return httpx.Client(limits=limits)

    def close(self) -> None:
        """Close the connections, unless they belong to the caller's own HTTP client."""
        if self._owned:
            self._http.close()

    def get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        *,
        read_timeout: float | None = None,
        deadline: float | None = None,
    ) -> Any:
        """GET and parse."""
        return self.parse(
            self.request("GET", path, params=params, read_timeout=read_timeout, deadline=deadline)
        )

    def request(
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
        """Send a request, again if need be, and return an answer with a 2xx status.

        `repeatable` is true by default for all methods but POST. No retry begins after
        `deadline`, a time of the clock.
        """
        if repeatable is None:
            repeatable = method != "POST"
        maybe_done = False
        retries = 0
        while True:
            request = self._build(method, path, params, body, headers, read_timeout)
            cause: httpx.TransportError | None = None
            asked: float | None = None
            try:
                response = self._client().send(request, auth=self._auth, follow_redirects=False)
                # What it was read from refers back to it. Without this circle it, and the body
                # that was sent, go when they are no longer needed, not some large bodies later.
                response.stream = httpx.ByteStream(b"")
            except httpx.TransportError as caught:
                cause = caught
                error = _problem.from_transport(caught, self.base_url, read_timeout or self.timeout)
                never_sent = _was_never_sent(caught)
                again = (repeatable or never_sent) and not _is_hopeless(caught)
                maybe_done = maybe_done or not never_sent
            else:
                if response.is_success:
                    return response
                if method == "DELETE" and response.status_code == 404 and maybe_done:
                    return response  # an earlier attempt deleted it and its answer was lost
                error = _problem.from_answer(response, self._key_source)
                again = repeatable and response.status_code in _RETRIED_STATUSES
                maybe_done = maybe_done or response.status_code != 429
                asked = _problem.retry_after(response)
            if not again or retries >= self._max_retries:
                raise error from cause
            delay = self.backoff(retries, asked)
            if asked is not None and asked > _RETRY_AFTER_MOST_SECONDS:
                raise error from cause
            if deadline is not None and self.clock.monotonic() + delay >= deadline:
                raise error from cause
            retries += 1
            self.clock.sleep(delay)

    @contextmanager
    def stream(
        self,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        read_timeout: float | None = None,
    ) -> Generator[httpx.Response, None, None]:
        """GET an answer to be read as it comes. Not retried: only the reader knows where it was."""
        request = self._build("GET", path, params, None, headers, read_timeout)
        try:
            response = self._client().send(
                request, auth=self._auth, follow_redirects=False, stream=True
            )
            try:
                if not response.is_success:
                    response.read()
                    raise _problem.from_answer(response, self._key_source)
                yield response
            finally:
                response.close()
        except httpx.TransportError as error:
            raise _problem.from_transport(
                error, self.base_url, read_timeout or self.timeout
            ) from error

    def parse(self, response: httpx.Response) -> Any:
        """Return the JSON value of an answer."""
        cause: ValueError | None
        try:
            return parse_json(response.content)
        except RecursionError:
            cause, message = None, "the answer is nested too deeply to be read here"
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            cause = error
            message = (
                f"the answer of {self.base_url} is not JSON ({error}); is Roost what runs there?"
            )
        except ValueError as error:  # a number of more digits than this Python converts
            cause, message = error, f"the answer can't be read here: {error}"
        raise ServerError(
            message,
            status=response.status_code,
            request_id=response.headers.get("X-Request-Id"),
        ) from cause

    def backoff(self, retries: int, at_least: float | None = None) -> float:
        """Return how long to wait before retry number `retries` (from 0), in seconds."""
        most = min(_BACKOFF_MOST_SECONDS, _BACKOFF_FIRST_SECONDS * 2.0 ** min(retries, 10))
        return (at_least or 0.0) + self.clock.uniform(0.0, most)

    def _client(self) -> httpx.Client:
        if self._owned and self._process != os.getpid():
            # After a fork both processes would read from the same sockets. The old client is
            # kept, unused, because the end of its sockets is the parent's business.
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
        # Our own client adds nothing to a request, and is slower at making one.
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


def _is_hopeless(error: httpx.TransportError) -> bool:
    if isinstance(error, (httpx.LocalProtocolError, httpx.UnsupportedProtocol)):
        return True
    return "CERTIFICATE_VERIFY_FAILED" in str(error)
