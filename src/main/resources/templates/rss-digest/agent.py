import feedparser
import requests

REMEMBER_SECONDS = 90 * 24 * 3600


def main(request, store):
    new, failed = [], {}
    for url in request.payload["feeds"]:
        try:
            new += new_entries(url, store)
        except (requests.RequestException, ValueError) as error:
            failed[url] = str(error)
            print(f"{url}: {error}")
    new.sort(key=lambda entry: entry["published"] or "", reverse=True)
    for entry in new:
        print(f"{entry['feed']}: {entry['title']}")
    return {"entries": new, "failed": failed}


def new_entries(url, store):
    response = requests.get(url, timeout=20)
    response.raise_for_status()
    feed = feedparser.parse(response.content)
    if feed.bozo and not feed.entries:
        raise ValueError(f"not a feed: {feed.bozo_exception}")
    title = feed.feed.get("title", url)
    for entry in feed.entries:
        key = "seen:" + (entry.get("id") or entry.get("link") or entry.get("title", ""))[:400]
        if key in store:
            continue
        store.set(key, True, ttl=REMEMBER_SECONDS)
        yield {
            "feed": title,
            "title": entry.get("title", ""),
            "link": entry.get("link"),
            "published": published(entry),
        }


def published(entry):
    moment = entry.get("published_parsed") or entry.get("updated_parsed")
    return "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z".format(*moment[:6]) if moment else None
