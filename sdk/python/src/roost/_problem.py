"""Errors for HTTP responses and transport failures."""

from __future__ import annotations

from typing import Any, cast

from ._errors import (
    APIConnectionError,
    APITimeout,
    AuthenticationError,
    Conflict,
    FieldError,
    Gone,
    NotFound,
    PermissionDenied,
    PreconditionFailed,
    RateLimited,
    RoostError,
    ServerError,
    TooLarge,
    Unavailable,
    ValidationError,
)
from ._http import httpx
from ._values import parse_json

__all__ = ["from_response", "from_transport", "retry_after"]

_BY_CODE: dict[str, type[RoostError]] = {
    "malformed_json": ValidationError,
    "validation_failed": ValidationError,
    "idempotency_key_reused": ValidationError,
    "unauthenticated": AuthenticationError,
    "forbidden": PermissionDenied,
    "not_found": NotFound,
    "conflict": Conflict,
    "gone": Gone,
    "precondition_failed": PreconditionFailed,
    "too_large": TooLarge,
    "rate_limited": RateLimited,
    "queue_full": RateLimited,
    "internal": ServerError,
    "unavailable": Unavailable,
}

_BY_STATUS: dict[int, type[RoostError]] = {
    400: ValidationError,
    401: AuthenticationError,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    410: Gone,
    412: PreconditionFailed,
    413: TooLarge,
    422: ValidationError,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}

_MAX_FOREIGN_BODY = 200


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds of `Retry-After`, which has two forms."""
    text = response.headers.get("Retry-After")
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        until = parsedate_to_datetime(text)
        # By the server's clock, since the local one may be wrong.
        now = parsedate_to_datetime(response.headers["Date"])
        seconds: float = (until - now).total_seconds()
        return max(0.0, seconds)
    except (KeyError, TypeError, ValueError):
        return None


def from_response(response: httpx.Response, key_source: str) -> RoostError:
    """Return the error for a response outside 2xx. Its body must have been read."""
    problem = _problem_of(response)
    status = response.status_code
    code = _text(problem.get("code"))
    detail = _text(problem.get("detail"))
    request_id = _text(problem.get("request_id")) or response.headers.get("X-Request-Id")
    errors = _errors_of(problem)

    message = detail or _text(problem.get("title")) or _explain_foreign(response)
    message += f" ({status} {code})" if code else f" ({status})"
    if status == 401:
        message += f"; the API key came from {key_source}"
    if status >= 500 and request_id:
        message += f"; request {request_id}"
    message += "".join(f"\n  {error}" for error in errors)

    default = ServerError if status >= 500 else RoostError
    kind = _BY_CODE.get(code or "") or _BY_STATUS.get(status, default)
    error = kind(message, code=code, status=status, detail=detail, request_id=request_id)
    if isinstance(error, (Conflict, TooLarge, ValidationError)):
        error.errors = errors
    if isinstance(error, (RateLimited, Unavailable)):
        error.retry_after = retry_after(response)
    return error


def from_transport(error: httpx.TransportError, base_url: str, timeout: float) -> RoostError:
    """Return the error for a request without a complete response."""
    if isinstance(error, (httpx.ReadTimeout, httpx.WriteTimeout)):
        return APITimeout(f"no response from {base_url} within {timeout:g} s")
    reason = str(error) or type(error).__name__
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return APIConnectionError(
            f"the certificate of {base_url} is not trusted: {reason}. "
            "Set SSL_CERT_FILE to its CA certificate."
        )
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
        return APIConnectionError(
            f"can't reach Roost at {base_url}: {reason}. Is it running? "
            "Start it, or set roost.base_url or ROOST_URL to its URL."
        )
    return APIConnectionError(f"the connection to {base_url} was lost: {reason}")


def _problem_of(response: httpx.Response) -> dict[str, Any]:
    try:
        problem = parse_json(response.content)
    except ValueError:
        return {}
    return cast("dict[str, Any]", problem) if isinstance(problem, dict) else {}


def _errors_of(problem: dict[str, Any]) -> tuple[FieldError, ...]:
    errors = problem.get("errors")
    if not isinstance(errors, list):
        return ()
    return tuple(_error_of(error) for error in cast("list[object]", errors))


def _error_of(error: object) -> FieldError:
    fields = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    return FieldError(*(fields.get(name) for name in ("pointer", "line", "code", "detail")))


def _explain_foreign(response: httpx.Response) -> str:
    """Describe a response that isn't a problem document."""
    if response.is_redirect:
        return (
            f"{response.url.host} redirects to {response.headers.get('Location')}: "
            "set roost.base_url or ROOST_URL to that server"
        )
    text = " ".join(response.text.split())[:_MAX_FOREIGN_BODY]
    return text or response.reason_phrase or "no explanation"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
