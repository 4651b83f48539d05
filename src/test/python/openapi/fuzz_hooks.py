"""What Schemathesis has to know of Roost: which resources exist, and what can't be asked without an end.

`fuzz.py` creates the resources and hands over their identifiers as ROOST_FUZZ_RESOURCES, JSON by the path's first
segment. Requests that would delete one of them delete another one, which is created for that.
"""

import json
import os
import random
import urllib.request

import schemathesis
from schemathesis.core.parameters import ParameterLocation

RESOURCES = json.loads(os.environ["ROOST_FUZZ_RESOURCES"])
URL = os.environ["ROOST_FUZZ_URL"]
KEY = os.environ["ROOST_FUZZ_KEY"]
LONGEST_WAIT_SECONDS = 1
UNKNOWN = "x-schemathesis-unknown-property"

# Which of several identifiers: the same with every run.
choice = random.Random(int(os.environ["ROOST_FUZZ_SEED"]))

TO_DELETE = {
    "agents": lambda: {"script": "def main():\n    pass\n"},
    "datastore": dict,
    "keys": lambda: {"name": "to delete", "role": "read"},
    "schedules": lambda: {"agent_id": RESOURCES["agents"]["id"], "cron": "@daily"},
    "webhooks": lambda: {"url": "http://127.0.0.1:9/"},
    "notification-channels": lambda: {"name": "fuzz", "kind": "slack", "url": "http://127.0.0.1:9/"},
}


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """The lines of an import, which are a string; what isn't one is sent as JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    return {"data": text.encode("utf-8", "surrogatepass")}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Leads most requests to resources that exist, and none to wait for long."""
    kind = case.operation.path.split("/")[2]
    known = RESOURCES.get(kind, {})
    parameters = case.path_parameters or {}
    if known and parameters and not _is_negative(case, ParameterLocation.PATH):
        replaced = {}
        for name, value in parameters.items():
            if name in known and value != known[name] and choice.random() < 0.6:
                replaced[name] = known[name]
        case.path_parameters = {**parameters, **replaced}
    if case.method == "DELETE" and kind in TO_DELETE and _is_kept(case):
        case.path_parameters = {**case.path_parameters, "id": _created(kind)}
    if case.query and _is_negative(case, ParameterLocation.QUERY):
        # What is sent as an empty value counts as left out, which is no mistake.
        case.query = {name: value for name, value in case.query.items() if value not in ("", [], {}, None)}
    for name in list(case.headers or {}):
        # Neither are headers that nobody knows, or that are empty.
        if name == UNKNOWN or (
            case.headers[name] in ("", None, "null") and _is_negative(case, ParameterLocation.HEADER)
        ):
            case.headers.pop(name)
    wait = (case.query or {}).get("wait")
    if str(wait).isdecimal() and LONGEST_WAIT_SECONDS < int(wait) <= 60:
        case.query = {**case.query, "wait": LONGEST_WAIT_SECONDS}
    if "event-stream" in str((case.headers or {}).get("Accept", "")):
        case.headers.pop("Accept")  # It doesn't end.


def _is_kept(case):
    """Whether the request deletes a resource that others need, and not only a part of it."""
    return case.operation.path.count("{") == 1 and case.path_parameters.get("id") in [
        identifier for known in RESOURCES.values() for identifier in known.values()
    ]


def _is_negative(case, location):
    component = case.meta.components.get(location) if case.meta is not None else None
    return component is not None and component.mode.is_negative


def _created(kind):
    request = urllib.request.Request(
        f"{URL}/v1/{kind}",
        data=json.dumps(TO_DELETE[kind]()).encode(),
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["id"]
