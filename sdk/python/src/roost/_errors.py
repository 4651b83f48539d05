"""Every error that this package raises.

::

    RoostError
    ├── AuthenticationError     no API key was found, or the server doesn't know it (401)
    ├── PermissionDenied        the key's role doesn't allow this (403)
    ├── NotFound                there is no such thing (404)
    ├── Gone                    what was asked for is not kept any more: old events (410)
    ├── Conflict                it clashes with what is there: a name taken, a store in use, a
    │   │                       transaction whose reads have changed (409)
    │   └── PreconditionFailed  the entry has another version than asked for (412)
    ├── ValidationError         the request is not valid; `.errors` says where and why (400, 422)
    ├── TooLarge                a limit is exceeded; the message names it (413)
    ├── RateLimited             too many requests, or the queue is full (429); `.retry_after`
    ├── Unavailable             the server can't work at the moment (502, 503, 504)
    ├── ServerError             the server failed (other 5xx), or the answer makes no sense
    ├── APIConnectionError      no connection, or it broke (also a `ConnectionError`)
    ├── APITimeout              no answer or no end within the time given (also a `TimeoutError`)
    ├── ExecutionFailed         no success and `check=True`, or it never ran; `.execution`, `.job`
    ├── BuildFailed             an agent's dependencies can't be built; `.builder_job`
    ├── SignatureError          what came to a webhook is not signed by Roost, or is too old
    └── ScriptError             a script can't run: syntax error, no `main` (also a `ValueError`)

What the server answers is mapped by the problem's `code` first and by the HTTP status second.
Codes that a later server adds arrive as the class of their status, or as `RoostError` itself.
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
    "TooLarge",
    "Unavailable",
    "ValidationError",
]


class RoostError(Exception):
    """The root of all errors of this package.

    `code` is the API's word for the problem, `status` the HTTP status, `detail` what the server
    says about this case, `request_id` what to look for in the server's log. Each is `None` where
    there was no answer to take it from.
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
    """There is no such thing (404)."""


class Gone(RoostError):
    """Events after the one that was asked for are not kept any more (410).

    `after="0"` begins with the oldest that are; what has happened before is lost to the log.
    """


@dataclass(frozen=True)
class FieldError:
    """One thing that is wrong with a request.

    `pointer` is a JSON pointer into the request (`/requirements`), `line` counts from 1 in a
    field of several lines, `code` is the API's word for it, `detail` says what to do.
    """

    pointer: str | None = None
    line: int | None = None
    code: str | None = None
    detail: str | None = None

    def __str__(self) -> str:
        where = (self.pointer or "").lstrip("/") or "request"
        line = "" if self.line is None else f", line {self.line}"
        return f"{where}{line}: {self.detail or self.code or 'not valid'}"


class Conflict(RoostError):
    """The request clashes with what is there (409), for example a name that is taken.

    Of a transaction: what it read has changed; the message names it, and nothing was written.
    `errors` says where in the request.
    """

    errors: Sequence[FieldError] = ()


class PreconditionFailed(Conflict):
    """The entry has another version than `if_match` asked for (412)."""


class ValidationError(RoostError):
    """The request is not valid (400, 422); `errors` holds every problem that it has."""

    errors: Sequence[FieldError] = ()


class TooLarge(RoostError):
    """A limit is exceeded; the message names it (413). `errors` may say where in the request."""

    errors: Sequence[FieldError] = ()


class RateLimited(RoostError):
    """Too many requests, or too many queued ExecutorJobs (429).

    `retry_after` is the number of seconds to wait, if the server gave one.
    """

    retry_after: float | None = None


class Unavailable(RoostError):
    """The server, or something that it needs, can't work at the moment (502, 503, 504)."""

    retry_after: float | None = None


class ServerError(RoostError):
    """The server failed, or gave an answer that makes no sense."""


class APIConnectionError(RoostError, ConnectionError):
    """No connection could be made, or it broke before the answer was complete."""


class APITimeout(RoostError, TimeoutError):
    """No answer, or no end of what was waited for, within the time given.

    `job` is the ExecutorJob that was waited for, if it was one. It goes on.
    """

    job: ExecutorJob | None = None


class ExecutionFailed(RoostError):
    """A script failed and `check=True` was asked for, or an ExecutorJob ended without running it.

    `execution` is the last attempt, `None` when there was none; `job` is the ExecutorJob; `code`
    is the reason.
    """

    execution: Execution | None = None
    job: ExecutorJob | None = None


class BuildFailed(RoostError):
    """An agent's dependencies can't be built. The message is the installer's explanation.

    `builder_job` is the attempt that failed, `code` its reason.
    """

    builder_job: BuilderJob | None = None


class ScriptError(RoostError, ValueError):
    """A script can't run, which was found before it was sent.

    `code` is `syntax_error` or `no_main`; `line` and `column` count from 1.
    """

    line: int | None = None
    column: int | None = None


class SignatureError(RoostError):
    """What came to a webhook is not signed with its secret, or was signed too long ago."""
