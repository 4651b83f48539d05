import os
from datetime import datetime, timedelta, timezone

import requests

API = os.environ.get("GITHUB_API", "https://api.github.com")
MOST_PAGES = 10


def main(request, store):
    now = datetime.now(timezone.utc)
    digest = {}
    for repository in request.payload["repositories"]:
        since = store.get(repository) or (now - timedelta(days=7)).isoformat(timespec="seconds")
        digest[repository] = [summary(issue) for issue in changed(repository, since)]
        store[repository] = now.isoformat(timespec="seconds")
        print(f"{repository}: {len(digest[repository])} changed since {since}")
    return digest


def changed(repository, since):
    headers = {"Accept": "application/vnd.github+json"}
    if os.environ.get("GITHUB_TOKEN"):
        headers["Authorization"] = f"Bearer {os.environ['GITHUB_TOKEN']}"
    for page in range(1, MOST_PAGES + 1):
        response = requests.get(
            f"{API}/repos/{repository}/issues",
            params={"state": "open", "since": since, "per_page": 100, "page": page},
            headers=headers,
            timeout=20,
        )
        response.raise_for_status()
        issues = response.json()
        yield from issues
        if len(issues) < 100:
            return


def summary(issue):
    return {
        "number": issue["number"],
        "title": issue["title"],
        "url": issue["html_url"],
        "kind": "pull request" if "pull_request" in issue else "issue",
        "author": issue["user"]["login"],
        "updated_at": issue["updated_at"],
    }
