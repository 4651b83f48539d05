import re
from datetime import datetime, timezone
from decimal import Decimal

import requests
from bs4 import BeautifulSoup

MOST_PRICES = 1000


def main(request, store):
    results = [track(product, store) for product in request.payload["products"]]
    return {"products": results, "fallen": [each["name"] for each in results if each["fallen"]]}


def track(product, store):
    price = price_of(product["url"], product["selector"])
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    key = "history:" + product["name"]
    history = store.get(key, [])
    last = Decimal(history[-1]["price"]) if history else price
    lowest = min((Decimal(entry["price"]) for entry in history), default=price)
    store[key] = [*history, {"time": now, "price": str(price)}][-MOST_PRICES:]
    print(f"{product['name']}: {price}, before {last}, lowest {lowest}")
    return {
        "name": product["name"],
        "price": str(price),
        "change": str(price - last),
        "fallen": price < last,
        "lowest": price <= lowest,
    }


def price_of(url, selector):
    response = requests.get(url, timeout=20)
    response.raise_for_status()
    element = BeautifulSoup(response.content, "html.parser").select_one(selector)
    if element is None:
        raise ValueError(f"no element of {url} matches {selector!r}")
    return parse_price(element.get("content") or element.get_text())


def parse_price(text):
    """The price in a text with a currency: both 1,234.50 and 1.234,50 are understood."""
    match = re.search(r"\d[\d.,\s]*", text)
    if match is None:
        raise ValueError(f"there is no price in {text!r}")
    digits = re.sub(r"\s", "", match[0]).rstrip(".,")
    whole, separator, cents = re.fullmatch(r"(.*?)(?:([.,])(\d{1,2}))?", digits).groups()
    return Decimal(re.sub(r"[.,]", "", whole) + (f".{cents}" if separator else ""))
