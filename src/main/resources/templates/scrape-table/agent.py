from urllib.parse import urljoin

import requests
from bs4 import BeautifulSoup

MOST_PAGES = 20


def main(request):
    options = request.payload
    url, rows = options["url"], []
    for number in range(1, options.get("pages", 1) + 1):
        if number > MOST_PAGES:
            break
        page = BeautifulSoup(load(url), "html.parser")
        found = [fields(row, options["fields"], url) for row in page.select(options["rows"])]
        print(f"{url}: {len(found)} rows")
        rows += found
        following = page.select_one(options["next"]) if options.get("next") else None
        if following is None:
            break
        url = urljoin(url, following["href"])
    return rows


def load(url):
    response = requests.get(url, timeout=20)
    response.raise_for_status()
    return response.content


def fields(row, selectors, url):
    return {name: value(row, selector, url) for name, selector in selectors.items()}


def value(row, selector, url):
    path, _, attribute = selector.partition("@")
    element = row.select_one(path) if path else row
    if element is None:
        return None
    if not attribute:
        return element.get_text(" ", strip=True)
    text = element.get(attribute)
    return urljoin(url, text) if text and attribute in ("href", "src") else text
