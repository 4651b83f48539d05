"""Every error that this package raises.

::

    RoostError
    ├── AuthenticationError     no API key was found, or the server doesn't know it (401)
    ├── PermissionDenied        the key's role doesn't allow this (403)
    ├── NotFound                the resource doesn't exist (404)
    ├── Gone                    the requested events are no longer stored (410)
    ├── Conflict                a name is taken, a store is in use, or the reads of a
    │   │                       transaction have changed (409)
    │   └── PreconditionFailed  the entry has another version than requested (412)
    ├── ValidationError         the request is invalid; `.errors` says where and why (400, 422)
    ├── TooLarge                a limit is exceeded; the message names it (413)
    ├── RateLimited             too many requests, or the queue is full (429); `.retry_after`
    ├── Unavailable             the server is temporarily unavailable (502, 503, 504)
    ├── ServerError             the server failed (other 5xx), or the response is invalid
    ├── APIConnectionError      no connection, or it was lost (also a `ConnectionError`)
    ├── APITimeout              no response or no end in time (also a `TimeoutError`)
    ├── ExecutionFailed         no success with `check=True`, or it never ran; `.execution`, `.job`
    ├── BuildFailed             an agent's dependencies can't be built; `.builder_job`
    ├── StreamRestarted         a job was retried while its values were read; `.attempt`
    ├── SignatureError          a webhook request isn't signed by Roost, or is too old
    └── ScriptError             a script can't run: syntax error, no `main` (also a `ValueError`)

The class depends on the problem's `code` first and on the HTTP status second. Codes of later
servers are mapped by their status, or to `RoostError` itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._sync._build import BuilderJob
    from ._sync._execution import Execution
    from ._sync._executor_job import ExecutorJob

__all__ = [
    "APIConnectionError",
    "APITimeout",
    "AuthenticationError",
    "BuildFailed",
    "Conflict",
    "ExecutionFailed",
    "FieldError",
    "Gone",
    "NotFound",
    "PermissionDenied",
    "PreconditionFailed",
    "RateLimited",
    "RoostError",
    "ScriptError",
    "ServerError",
    "SignatureError",
    "StreamRestarted",
    "TooLarge",
    "Unavailable",
    "ValidationError",
]


class RoostError(Exception):
    """The root of all errors of this package.

    `code` is the API's code of the problem, `status` the HTTP status, `detail` the server's
    explanation, `request_id` the id in the server's log. All are `None` without a response.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        detail: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.detail = detail
        self.request_id = request_id


class AuthenticationError(RoostError):
    """No API key was found, or the server doesn't know the one it was given (401)."""


class PermissionDenied(RoostError):
    """The API key's role doesn't allow this (403)."""


class NotFound(RoostError):
    """The resource doesn't exist (404)."""


class Gone(RoostError):
    """Events after the requested one are no longer stored (410).

    `after="0"` starts with the oldest stored event.
    """


@dataclass(frozen=True)
class FieldError:
    """One error in a request.

    `pointer` is a JSON pointer into the request (`/requirements`), `line` counts from 1 in a
    field of several lines, `code` is the API's code, `detail` says what to do.
    """

    pointer: str | None = None
    line: int | None = None
    code: str | None = None
    detail: str | None = None

    def __str__(self) -> str:
        where = (self.pointer or "").lstrip("/") or "request"
        line = "" if self.line is None else f", line {self.line}"
        return f"{where}{line}: {self.detail or self.code or 'invalid'}"


class Conflict(RoostError):
    """The request conflicts with the current state (409), for example a name that is taken.

    For a transaction: an entry that it read has changed; the message names it, and nothing was
    written. `errors` says where in the request.
    """

    errors: Sequence[FieldError] = ()


class PreconditionFailed(Conflict):
    """The entry's version isn't `if_match` (412)."""


class ValidationError(RoostError):
    """The request is invalid (400, 422); `errors` has all of its errors."""

    errors: Sequence[FieldError] = ()


class TooLarge(RoostError):
    """A limit is exceeded; the message names it (413). `errors` may say where in the request."""

    errors: Sequence[FieldError] = ()


class RateLimited(RoostError):
    """Too many requests, or too many queued ExecutorJobs (429).

    `retry_after` is the number of seconds to wait, if given by the server.
    """

    retry_after: float | None = None


class Unavailable(RoostError):
    """The server, or a service that it needs, is temporarily unavailable (502, 503, 504)."""

    retry_after: float | None = None


class ServerError(RoostError):
    """The server failed, or its response is invalid."""


class APIConnectionError(RoostError, ConnectionError):
    """The connection failed, or was lost before the response was complete."""


class APITimeout(RoostError, TimeoutError):
    """No response, or the job didn't end, in time.

    `job` is the ExecutorJob, if one was waited for. It keeps running.
    """

    job: ExecutorJob | None = None


class ExecutionFailed(RoostError):
    """A script failed with `check=True`, or an ExecutorJob ended without running it.

    `execution` is the last attempt, if any; `job` is the ExecutorJob; `code`
    is the reason.
    """

    execution: Execution | None = None
    job: ExecutorJob | None = None


class StreamRestarted(RoostError):
    """A job was retried while its values were read: they begin again.

    `attempt` is the number of the new attempt. `on_restart` of `stream` handles it instead.
    """

    attempt: int = 0

    @classmethod
    def at(cls, attempt: int) -> StreamRestarted:
        """Return the error of that attempt."""
        error = cls(
            f"attempt {attempt} has begun, so the values begin again; pass on_restart to go on"
        )
        error.attempt = attempt
        return error


class BuildFailed(RoostError):
    """An agent's dependencies can't be built. The message is that of the installer.

    `builder_job` is the attempt that failed, `code` its reason.
    """

    builder_job: BuilderJob | None = None


class ScriptError(RoostError, ValueError):
    """A script can't run; detected before it was sent.

    `code` is `syntax_error` or `no_main`; `line` and `column` count from 1.
    """

    line: int | None = None
    column: int | None = None


class SignatureError(RoostError):
    """A webhook request isn't signed with the secret, or was signed too long ago."""
