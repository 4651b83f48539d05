"""The HTTP request that a job was submitted with, at the URL of its agent."""

import json
from binascii import a2b_base64
from collections.abc import Iterator, Mapping
from typing import Any


class Headers(Mapping):  # type: ignore[type-arg] # of str and str
    """Headers by name, in upper or lower case. Several values of one header are joined by commas."""

    def __init__(self, values: "dict[str, str]") -> None:
        """`values`: by name in lower case."""
        self._values = values

    def __getitem__(self, name: str) -> str:
        """The value. Raises KeyError when the request has no such header."""
        return self._values[name.lower()]

    def __contains__(self, name: object) -> bool:
        """Whether the request has the header."""
        return isinstance(name, str) and name.lower() in self._values

    def __iter__(self) -> "Iterator[str]":
        """The names, in lower case."""
        return iter(self._values)

    def __len__(self) -> int:
        """The number of headers."""
        return len(self._values)

    def __repr__(self) -> str:
        return f"Headers({self._values!r})"


class HttpRequest:
    """An HTTP request. Read-only.

    method: the method, in upper case (str).
    path: what follows the agent's name in the URL, percent-encoded as it was sent; "/" for nothing (str).
    query: the values of the query parameters by name, decoded (dict of lists).
    headers: the headers by name, in upper or lower case (mapping).
    """

    __slots__ = ("_content", "headers", "method", "path", "query")

    method: str
    path: str
    query: "dict[str, list[str]]"
    headers: "Mapping[str, str]"

    def __init__(self, content: "Mapping[str, Any]") -> None:
        """`content`: the member `http` of the payload."""
        values = {
            "_content": content,
            "method": str(content.get("method", "GET")),
            "path": str(content.get("path", "/")),
            "query": dict(content.get("query") or {}),
            "headers": Headers({name.lower(): value for name, value in (content.get("headers") or {}).items()}),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def body(self) -> bytes:
        """The body's bytes, exactly as they were sent."""
        encoded = self._content.get("body_base64")
        if encoded is not None:
            return a2b_base64(encoded)
        return str(self._content.get("body") or "").encode("utf-8", "surrogatepass")

    @property
    def text(self) -> str:
        """The body as text in UTF-8. Raises UnicodeDecodeError if it is none."""
        return self.body.decode("utf-8")

    def json(self) -> Any:
        """The body as a JSON value. Raises ValueError if it is none."""
        return json.loads(self.body)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an HTTP request is read-only: {name} can't be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an HTTP request is read-only: {name} can't be deleted")

    def __repr__(self) -> str:
        return f"HttpRequest({self.method!r}, {self.path!r})"


def http_request(payload: object) -> "HttpRequest | None":
    """The request that a payload is; None for any other payload."""
    content = payload.get("http") if isinstance(payload, dict) and len(payload) == 1 else None
    return HttpRequest(content) if isinstance(content, dict) and "method" in content else None
