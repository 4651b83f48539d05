/** Texts of templates of scripts, by their names in `/create?template=NAME`. */
export const text = {
  hello: {
    title: "Hello",
    script: `def main(request):
    name = (request.payload or {}).get("name", "world")
    print(f"Greeting {name}")
    return {"greeting": f"Hello {name}!"}
`,
  },
  fetch: {
    title: "Fetch a page",
    script: `import requests


def main(request):
    url = (request.payload or {}).get("url", "https://example.org")
    response = requests.get(url, timeout=10)
    print(f"{url} answered {response.status_code} in {response.elapsed.total_seconds():.2f} s")
    response.raise_for_status()
    return {"status": response.status_code, "bytes": len(response.content)}
`,
  },
  counter: {
    title: "Count in a store",
    script: `from datetime import datetime, timezone


def main(request, store):
    name = (request.payload or {}).get("name", "visits")
    count = store.increment(name)
    last = store.get(f"{name}:last")
    store[f"{name}:last"] = datetime.now(timezone.utc).isoformat()
    print(f"{name}: {count}, previously at {last or 'never'}")
    return {"count": count, "last": last}
`,
  },
};
