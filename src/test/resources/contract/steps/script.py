import logging

calls = {"flaky": 0}


def flaky():
    calls["flaky"] += 1
    if calls["flaky"] < 2:
        raise ConnectionError("try again")
    return calls["flaky"]


def nested(request, pages):
    return [request.step(f"page {page}", lambda page=page: {"page": page, "parts": (page,)}) for page in pages]


def fail():
    raise KeyError("missing")


def main(request, store):
    logging.getLogger("roost.steps").setLevel(logging.ERROR)
    found = request.step("pages", nested, request, [1, 2])
    attempts = request.step("flaky", flaky, attempts=3, delay=0)
    try:
        request.step("fail", fail)
    except KeyError as error:
        failure = repr(error)
    try:
        request.step("not JSON", object)
    except Exception as error:
        refused = f"{type(error).__name__}: {error}"
    return [found, attempts, failure, refused]
