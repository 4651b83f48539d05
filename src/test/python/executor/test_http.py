"""The HTTP requests that scripts read."""

import json
import sys
from typing import Any

import pytest
from executor import PACKAGE, Executor

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor.script.http_request import http_request  # noqa: E402

REQUEST = {
    "method": "POST",
    "path": "/orders/a%20b",
    "query": {"x": ["1", "2"]},
    "headers": {"content-type": "application/json", "x-test": "é"},
    "body": '{"a": 1}',
}


def test_a_script_reads_the_request(executor: Executor) -> None:
    end = executor.run(
        """
        def main(request):
            http = request.http
            return {
                "seen": [http.method, http.path, http.query, http.headers["X-Test"], http.headers.get("nothing")],
                "body": [http.body.decode(), http.text, http.json()],
                "names": sorted(http.headers),
            }
        """,
        payload=json.dumps({"http": REQUEST}),
    )
    assert end.value == {
        "seen": ["POST", "/orders/a%20b", {"x": ["1", "2"]}, "é", None],
        "body": ['{"a": 1}', '{"a": 1}', {"a": 1}],
        "names": ["content-type", "x-test"],
    }


def test_the_body_may_be_bytes() -> None:
    request = http_request({"http": {"method": "PUT", "body_base64": "/wA="}})
    assert request is not None
    assert request.body == b"\xff\x00"
    assert (request.path, request.query, dict(request.headers)) == ("/", {}, {})
    with pytest.raises(UnicodeDecodeError):
        request.text  # noqa: B018 - raises
    with pytest.raises(ValueError):
        request.json()


@pytest.mark.parametrize("payload", [None, 1, [], {}, {"http": 1}, {"http": {}}, {"http": REQUEST, "other": 1}])
def test_other_payloads_are_no_requests(payload: Any) -> None:
    assert http_request(payload) is None


def test_a_request_is_read_only() -> None:
    request = http_request({"http": REQUEST})
    assert request is not None
    with pytest.raises(AttributeError):
        request.method = "GET"
    with pytest.raises(AttributeError):
        del request.path
    assert "X-TEST" in request.headers
    assert 1 not in request.headers
    assert len(request.headers) == 2
