"""What a Roost in use has: agents that work and some that don't, long names, histories, stores, a run that goes on."""

from dataclasses import dataclass
from typing import Any

from roost_client import Roost, until

# As long as a name may be.
LONG_NAME = "customer-invoice-reconciliation-of-all-subsidiaries-in-europe-the-middle-east-and-northern-africa-v2"

REPORT = '''\
"""Counts the orders of a day and keeps the numbers."""

import logging

log = logging.getLogger(__name__)


def main(request, store):
    day = (request.payload or {}).get("day", "2026-01-14")
    log.info("counting the orders of %s", day)
    orders = {"open": 12, "paid": 164, "returned": 3}
    log.warning("3 orders came back")
    store[f"orders/{day}"] = orders
    table = ["state,orders", *(f"{state},{number}" for state, number in orders.items())]
    request.artifact("\\n".join(table).encode(), name=f"orders-{day}.csv")
    return {"day": day, "orders": orders, "revenue": 18_240.5, "currency": "EUR"}
'''

RATES = '''\
"""Reads exchange rates."""


def parse(line):
    code, rate = line.split(":")
    return code, float(rate)


def main():
    lines = ["USD:1.08", "GBP:0.84", "JPY n/a"]
    return dict(parse(line) for line in lines)
'''

IMPORT = '''\
"""Imports the rows of a file, slowly."""

import time

COLOURS = ["\\x1b[32mok\\x1b[0m", "\\x1b[33mslow\\x1b[0m", "\\x1b[31mretry\\x1b[0m"]


def main():
    for row in range(400):
        print(f"row {row:05}  customer-{row * 7919 % 10_007:05}  {COLOURS[row % 3]}")
    print("waiting for more rows", flush=True)
    time.sleep(3600)
'''

GREETING = "def main(request):\n    return f'Hello, {request.payload}'\n"
PAYMENT = '''\
"""Pays an invoice when somebody has approved it."""

FORM = {
    "properties": {
        "account": {"type": "string", "enum": ["main", "reserve"], "title": "Account"},
        "amount": {"type": "number", "minimum": 0, "title": "Amount in EUR", "default": 1240.5},
        "urgent": {"type": "boolean", "title": "Pay today"},
        "note": {"type": "string", "format": "multiline", "maxLength": 200, "description": "For the bank."},
    },
    "required": ["account", "amount"],
}


def main(request):
    invoice = request.payload
    decision = request.approval(f"Pay {invoice['to']}?", invoice, form=FORM, assignees=["finance"])
    return decision.value or f"rejected by {decision.by}: {decision.comment}"
'''
INVOICE = {"to": "Åsa Ångström AB", "number": "2026-0117", "lines": [{"item": "paper", "price": 1240.5}], "paid": False}
OUT_OF_TIME = "import time\n\n\ndef main():\n    print('asking the archive')\n    time.sleep(60)\n"


@dataclass
class Estate:
    """What there is, as the API has answered it."""

    report: Any
    failing: Any
    unbuildable: Any
    long: Any
    succeeded: Any
    failed: Any
    running: Any
    approval: Any
    approval_link: Any
    issue: Any
    build: Any
    failed_build: Any
    rollout: Any
    store: Any
    webhook: Any
    channel: Any


def make_estate(roost: Roost) -> Estate:
    """Makes everything and waits until it stands still; only one execution goes on, and one waits for an approval."""
    store = roost.post("/datastore", {"name": "orders"})
    report = roost.agent("daily-report", REPORT, store_ids=[store["id"]], requirements="six==1.17.0")
    failing = roost.agent("exchange-rates", RATES)
    unbuildable = roost.agent("weather-forecast", GREETING, requirements="six==99.99.99")
    long = roost.agent(LONG_NAME, GREETING, python_version=report["python_version"])
    slow = roost.agent("archive-lookup", OUT_OF_TIME, timeout=1)
    importer = roost.agent("row-import", IMPORT, timeout=7200)
    running = roost.started(roost.submit(importer))
    fill(roost, store)
    approval = roost.asked(roost.submit(roost.agent("invoice-payment", PAYMENT), INVOICE))
    build, failed_build = roost.built(report), roost.built(unbuildable)
    rollout = roost.rolled_out(roost.post(f"/agents/{report['id']}/rebuild"))
    roost.call("PATCH", f"/agents/{report['id']}", {"script": REPORT.replace("3 orders", "Some orders")})
    succeeded = [roost.run(report, {"day": f"2026-01-{day:02}"}) for day in (12, 13, 14)][-1]
    failed = [roost.run(failing) for _ in range(2)][-1]
    roost.run(slow)
    roost.run(long, "Ada " * 60)
    plan(roost, report, long)
    # Nothing listens there: its deliveries fail, as some do.
    hook = {"url": "http://127.0.0.1:9/hooks/roost", "event_types": ["execution.*"], "agent_id": failing["id"]}
    webhook = roost.post("/webhooks", {**hook, "description": "notifies the people on call"})
    night = {"days": ["mon", "tue", "wed", "thu", "fri"], "from": "22:00", "to": "07:00"}
    slack = {"name": "On-call", "kind": "slack", "url": "http://127.0.0.1:9/services/T0/B0/secret"}
    channel = roost.post("/notification-channels", {**slack, "agents": ["report*"], "quiet_times": [night]})
    roost.post(f"/notification-channels/{channel['id']}/test", None)
    roost.post("/keys", {"name": "continuous integration", "role": "execute"})
    until("the log", lambda: roost.get("/executions/" + running["id"])["log_entries"] > 400)
    return Estate(
        *(report, failing, unbuildable, long, succeeded, failed, running),
        *(approval, roost.post(f"/approvals/{approval['id']}/links", {"assignee": "finance"}), roost.issue_of(failed)),
        *(build, failed_build, rollout, store, webhook, channel),
    )


def fill(roost: Roost, store: Any) -> None:
    """Entries of all shapes: deep ones, long keys, exact numbers."""
    values = {
        "settings": {"currency": "EUR", "round": True, "tax": {"standard": 19, "reduced": 7}, "notes": None},
        "customer/" + "long-key-" * 10 + "x" * 60: {"name": "Åsa Ångström", "tags": ["wholesale", "net 30"]},
        "total": 10**24,
        **{f"customer/{n:04}": {"name": f"Customer {n}", "open": n % 3, "balance": n * 1.5} for n in range(120)},
    }
    writes = [{"key": key, "value": value} for key, value in values.items()]
    roost.post(f"/datastore/{store['id']}/transactions", {"writes": writes})


def plan(roost: Roost, report: Any, long: Any) -> None:
    """Schedules, one of them paused."""
    base = {"cron": "15 6 * * mon-fri", "time_zone": "Europe/Berlin", "payload": {"day": "2026-01-14"}}
    roost.post("/schedules", {**base, "agent_id": report["id"], "name": "every working day"})
    roost.post("/schedules", {"agent_id": long["id"], "cron": "0 0 1 * *", "state": "paused", "payload": "month"})
