"""Templates run, with a local server as the outside world."""

import hashlib
import hmac
import json
from typing import Any, Callable

from world import World

Run = Callable[..., Any]
PRODUCT = '<p class="price">€ 1.234,50</p>'
FEED = """<rss version="2.0"><channel><title>News</title>
<item><guid>1</guid><title>First</title><link>http://x/1</link><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item>
<item><guid>2</guid><title>Second</title><link>http://x/2</link><pubDate>Tue, 03 Nov 2026 10:00:00 GMT</pubDate></item>
</channel></rss>"""


def value(execution: Any) -> Any:
    assert execution["state"] == "succeeded", execution
    return execution["return_value"]


def test_uptime_check(run: Run, world: World) -> None:
    world.pages = {"/a": "up", "/b": "up"}
    urls = {"urls": [world.url + "/a", world.url + "/b"]}
    assert value(run("uptime-check", urls))["up"] == 2
    del world.pages["/b"]
    failed = run("uptime-check", urls)
    assert failed["reason"] == "exception"
    assert failed["error"]["message"] == f"1 of 2 are down: {world.url}/b"


def test_page_monitor(run: Run, world: World) -> None:
    payload = {"url": world.url + "/", "selector": "p"}
    world.pages["/"] = "<h1>1</h1><p>One</p><p>Two</p>"
    assert value(run("page-monitor", payload))["changed"] is False
    world.pages["/"] = "<h1>2</h1><p>One</p><p>Three</p>"
    assert value(run("page-monitor", payload)) == {"changed": True, "added": ["Three"], "removed": ["Two"]}
    assert value(run("page-monitor", payload))["changed"] is False


def test_scrape_table(run: Run, world: World) -> None:
    world.pages["/1"] = "<ul><li><a href='/x'>X</a><b>1</b></li></ul><a class='next' href='/2'>next</a>"
    world.pages["/2"] = "<ul><li><a href='/y'>Y</a></li></ul>"
    fields = {"name": "a", "link": "a@href", "price": "b"}
    payload = {"url": world.url + "/1", "rows": "li", "fields": fields, "next": "a.next", "pages": 5}
    assert value(run("scrape-table", payload)) == [
        {"name": "X", "link": world.url + "/x", "price": "1"},
        {"name": "Y", "link": world.url + "/y", "price": None},
    ]


def test_rss_digest(run: Run, world: World) -> None:
    world.pages = {"/feed": (200, "application/rss+xml", FEED.encode())}
    payload = {"feeds": [world.url + "/feed", world.url + "/missing"]}
    digest = value(run("rss-digest", payload))
    assert [entry["title"] for entry in digest["entries"]] == ["Second", "First"]
    assert digest["entries"][0]["published"] == "2026-11-03T10:00:00Z"
    assert list(digest["failed"]) == [world.url + "/missing"]
    assert value(run("rss-digest", payload))["entries"] == []


def test_github_issues(run: Run, world: World) -> None:
    issue = {"number": 7, "title": "It fails", "html_url": "http://x/7", "user": {"login": "ada"}, "updated_at": "now"}
    world.pages["/repos/a/b/issues"] = [issue, {**issue, "number": 8, "pull_request": {}}]
    found = value(run("github-issues", {"repositories": ["a/b"]}, GITHUB_API=world.url, GITHUB_TOKEN="t"))
    assert [(each["number"], each["kind"]) for each in found["a/b"]] == [(7, "issue"), (8, "pull request")]
    assert world.received[0][2]["Authorization"] == "Bearer t"
    value(run("github-issues", {"repositories": ["a/b"]}, GITHUB_API=world.url))
    assert "Authorization" not in world.received[1][2]


def test_price_tracker(run: Run, world: World) -> None:
    world.pages["/p"] = PRODUCT
    payload = {"products": [{"name": "P", "url": world.url + "/p", "selector": ".price"}]}
    assert value(run("price-tracker", payload))["products"][0]["price"] == "1234.50"
    world.pages["/p"] = PRODUCT.replace("1.234,50", "1,199")
    second = value(run("price-tracker", payload))
    assert second["fallen"] == ["P"]
    assert second["products"][0]["change"] == "-35.50"
    assert second["products"][0]["lowest"] is True


def completion(_: str, __: str, body: bytes) -> Any:
    asked = json.loads(body)
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": asked["model"],
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": f"{len(asked['messages'])} messages"},
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }


def test_openai_summary(run: Run, world: World) -> None:
    world.pages = {"/v1/chat/completions": completion, "/page": "<nav>menu</nav><p>A page</p>"}
    service = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": world.url + "/v1"}
    answer = value(run("openai-summary", {"url": world.url + "/page", "words": 5}, **service))
    assert answer == {"summary": "2 messages", "tokens": 7}
    sent = json.loads(world.sent("/v1/chat/completions")[0])["messages"]
    assert "at most 5 words" in sent[0]["content"]
    assert sent[1]["content"] == "A page"


def test_langchain_answers(run: Run, world: World) -> None:
    world.pages = {"/v1/chat/completions": completion}
    documents = {"terms": "The warranty is two years.", "about": "We live in Berlin."}
    service = {"OPENAI_API_KEY": "k", "OPENAI_API_BASE": world.url + "/v1"}
    answer = value(run("langchain-answers", {"question": "Which warranty?", "documents": documents}, **service))
    assert answer == {"answer": "2 messages", "sources": ["terms"]}
    assert "[1] terms: The warranty" in json.loads(world.sent("/v1/chat/completions")[0])["messages"][1]["content"]


def test_csv_report(run: Run, world: World) -> None:
    world.pages["/data.csv"] = "region,amount\nnorth,10\nsouth,25.5\nnorth,7\nsouth,none\n"
    payload = {"url": world.url + "/data.csv", "group_by": "region", "value": "amount"}
    assert value(run("csv-report", payload)) == {
        "rows": 4,
        "groups": [
            {"group": "south", "sum": 25.5, "mean": 25.5, "count": 1},
            {"group": "north", "sum": 17.0, "mean": 8.5, "count": 2},
        ],
    }
    failed = run("csv-report", {**payload, "value": "price"})
    assert failed["error"]["message"] == "no column price; there are region, amount"


def test_postgresql_report_without_a_database(run: Run) -> None:
    failed = run("postgresql-report", {"query": "select 1"}, DATABASE_URL="postgresql://127.0.0.1:1/none")
    assert failed["error"]["type"] == "psycopg.OperationalError"


def test_webhook_receiver(run: Run) -> None:
    body = '{"action": "opened"}'
    signature = "sha256=" + hmac.new(b"secret", body.encode(), hashlib.sha256).hexdigest()
    payload = {"id": "1", "body": body, "signature": signature}
    secret = {"WEBHOOK_SECRET": "secret"}
    assert value(run("webhook-receiver", payload, **secret)) == {"handled": True, "result": "opened"}
    assert value(run("webhook-receiver", payload, **secret)) == {"handled": False}
    forged = run("webhook-receiver", {**payload, "id": "2", "body": body + " "}, **secret)
    assert forged["error"]["type"] == "PermissionError"


def test_slack_message(run: Run, world: World) -> None:
    answers = [(429, "text/plain", b"slow"), (200, "text/plain", b"ok"), (404, "text/plain", b"no_service")]
    world.pages["/hook"] = lambda *_: answers.pop(0)
    hook = {"SLACK_WEBHOOK_URL": world.url + "/hook"}
    assert value(run("slack-message", {"text": "Hello"}, **hook)) == {"sent": True, "attempts": 2}
    assert json.loads(world.sent("/hook")[1]) == {"text": "Hello"}
    assert "Slack answered 404: no_service" in run("slack-message", "Hello", **hook)["message"]


def test_s3_backup(run: Run, world: World) -> None:
    old = "<Contents><Key>site/2020-01-01T000000Z</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified></Contents>"
    listing = f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{old}</ListBucketResult>'

    def bucket(method: str, path: str, body: bytes) -> "tuple[int, str, bytes]":
        listed = method == "GET" and "list-type=2" in path
        return (204 if method == "DELETE" else 200), "application/xml", listing.encode() if listed else b""

    class Bucket(dict):  # any key
        def get(self, path: str, otherwise: Any = None) -> Any:
            return "<p>content</p>" if path == "/page" else bucket

    world.pages = Bucket()
    variables = {"S3_BUCKET": "backups", "S3_ENDPOINT": world.url, "AWS_DEFAULT_REGION": "eu-central-1"}
    keys = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
    done = value(run("s3-backup", {"url": world.url + "/page", "prefix": "site"}, **variables, **keys))
    assert done["bytes"] == len("<p>content</p>")
    assert done["removed"] == ["site/2020-01-01T000000Z"]
    put = next(each for each in world.received if each[0] == "PUT")
    assert put[1].startswith("/backups/site/20")
    assert any(each[0] == "DELETE" and each[1].startswith("/backups/site/2020-01-01") for each in world.received)
