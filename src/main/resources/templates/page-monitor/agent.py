import difflib

import requests
from bs4 import BeautifulSoup


def main(request, store):
    url = request.payload["url"]
    lines = text_of(url, request.payload.get("selector", "body"))
    before = store.get(url)
    store[url] = lines
    if before is None:
        print(f"Watching {url}: {len(lines)} lines")
        return {"changed": False, "added": [], "removed": []}
    changes = [line for line in difflib.ndiff(before, lines) if line[0] in "+-"]
    print("\n".join(changes) or "No change")
    return {
        "changed": bool(changes),
        "added": [line[2:] for line in changes if line[0] == "+"],
        "removed": [line[2:] for line in changes if line[0] == "-"],
    }


def text_of(url, selector):
    response = requests.get(url, timeout=20)
    response.raise_for_status()
    page = BeautifulSoup(response.content, "html.parser")
    for element in page(["script", "style"]):
        element.decompose()
    chosen = page.select(selector)
    if not chosen:
        raise ValueError(f"nothing on the page matches the selector {selector!r}")
    text = "\n".join(element.get_text("\n", strip=True) for element in chosen)
    return [line for line in text.splitlines() if line.strip()]
