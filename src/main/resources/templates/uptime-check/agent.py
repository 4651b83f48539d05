import time
import urllib.error
import urllib.request

TIMEOUT_SECONDS = 10


def main(request, store):
    checks = [check(url) for url in request.payload["urls"]]
    for result in checks:
        before = store.get(result["url"])
        if before is None or before["up"] != result["up"]:
            print(f"{result['url']} is {'up' if result['up'] else 'down'}: {result['detail']}")
        store[result["url"]] = result
    down = [result["url"] for result in checks if not result["up"]]
    if down:
        raise RuntimeError(f"{len(down)} of {len(checks)} are down: {', '.join(down)}")
    return {"up": len(checks), "slowest_seconds": max(result["seconds"] for result in checks)}


def check(url):
    started = time.monotonic()
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
            up, detail = True, f"status {response.status}"
    except urllib.error.HTTPError as error:
        up, detail = False, f"status {error.code}"
    except OSError as error:
        up, detail = False, str(error)
    return {"url": url, "up": up, "detail": detail, "seconds": round(time.monotonic() - started, 3)}
