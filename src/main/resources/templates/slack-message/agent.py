import json
import os
import time
import urllib.error
import urllib.request

MOST_TRIES = 3


def main(request):
    message = request.payload
    text = message if isinstance(message, str) else message["text"]
    blocks = [] if isinstance(message, str) else message.get("blocks", [])
    body = {"text": text, **({"blocks": blocks} if blocks else {})}
    for attempt in range(1, MOST_TRIES + 1):
        delay = send(os.environ["SLACK_WEBHOOK_URL"], body)
        if delay is None:
            print(f"Sent {text!r}")
            return {"sent": True, "attempts": attempt}
        print(f"Slack limits the rate; trying again in {delay} s")
        time.sleep(delay)
    raise RuntimeError(f"Slack accepted no message in {MOST_TRIES} attempts")


def send(url, body):
    """Returns None, or after how many seconds to try again."""
    headers = {"Content-Type": "application/json"}
    call = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(call, timeout=20):
            return None
    except urllib.error.HTTPError as error:
        if error.code == 429:
            return min(60, int(error.headers.get("Retry-After", 1)))
        detail = error.read(1000).decode(errors="replace")
        raise RuntimeError(f"Slack answered {error.code}: {detail}") from None
