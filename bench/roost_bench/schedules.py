"""How late scheduled runs are when many come due in the same second."""

import datetime
import json
import math
import threading
import time
from typing import Any

import roost

from roost_bench.api import Connection, WrongResultError, check_sum
from roost_bench.context import Context
from roost_bench.latency import HOUR
from roost_bench.report import Row, latency

CONNECTIONS = 8
CONCURRENCY = 16
AHEAD_SECONDS = 5
END_SECONDS = 300
CLIENT = f"{CONNECTIONS} connections order as many at once"


def measure(context: Context) -> "list[Row]":
    """Schedules whose time comes together, then as many orders that clients place together."""
    number = context.sizes.schedules
    with context.agent(keep_warm=HOUR, max_concurrency=CONCURRENCY) as agent:
        began = together(context, agent, 4 * CONCURRENCY)  # not counted: executors start
        wait_for_end(context, agent, 4 * CONCURRENCY, began)
        due = make_schedules(context, agent, number)
        time.sleep(max(0.0, due - time.time()))
        scheduled = wait_for_end(context, agent, number, due)
        if any(job["scheduled_time"] is None or seconds(job["scheduled_time"]) != due for job in scheduled):
            raise WrongResultError("a job is not for the time that was due")
        began = together(context, agent, number)
        jobs = wait_for_end(context, agent, number, began)
        stored = noted(context, agent)
    rows = []
    for name, when in (("created", created_of), ("stored", lambda job: stored[job["id"]]), ("started", start_of)):
        late = [when(job) - due for job in scheduled]
        alone = latency("", [when(job) - began for job in jobs])
        note = f"at most {max(late):.2f} s; the clients' p99 is {alone.p99:.2f} s"
        title = f"{number} in the same second: {name}"
        rows.append(latency(title, late, floor=alone.value, floor_name=CLIENT, note=note))
    return rows


def created_of(job: "dict[str, Any]") -> float:
    """When the ExecutorJob was made, Unix time."""
    return seconds(job["created_at"])


def noted(context: Context, agent: roost.Agent) -> "dict[str, float]":
    """When the database noted each ExecutorJob of the agent, Unix time: for a batch of jobs, one after the other."""
    times = {}
    position = "0"
    while True:
        path = f"/events?types=executor_job.queued&agent_id={agent.id}&limit=200&after={position}"
        page = context.http.get(path)
        times.update({event["subject"]: seconds(event["time"]) for event in page["data"]})
        if page["next_cursor"] is None or not page["data"]:
            return times
        position = page["next_cursor"]


def start_of(job: "dict[str, Any]") -> float:
    """When an executor got it."""
    return seconds(job["execution"]["started_at"])


def seconds(text: str) -> float:
    """Unix time of what the API writes."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def make_schedules(context: Context, agent: roost.Agent, number: int) -> float:
    """Makes schedules with one time each, all the same; answers that time."""
    body = {"agent_id": agent.id, "cron": "* * * * *", "payload": {"n": 1}}
    began = time.monotonic()
    for _ in range(10):  # to know how long one takes
        delete(context, create(context, {**body, "state": "paused"}))
    needed = (time.monotonic() - began) / 10 * number + AHEAD_SECONDS
    due = math.ceil((time.time() + needed) / 60) * 60
    moment = datetime.datetime.fromtimestamp(due, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for _ in range(number):
        create(context, {**body, "starts_at": moment, "ends_at": moment})
    if time.time() > due - 1:
        raise WrongResultError("making the schedules took until their time")
    return float(due)


def create(context: Context, body: "dict[str, Any]") -> str:
    """Makes a schedule; answers its id."""
    answer = context.http.request("POST", "/schedules", json.dumps(body).encode())
    return str(json.loads(answer)["id"])


def delete(context: Context, schedule_id: str) -> None:
    """Deletes a schedule."""
    context.http.request("DELETE", f"/schedules/{schedule_id}")


def together(context: Context, agent: roost.Agent, number: int) -> float:
    """Orders executions over several connections, without waiting for their end; answers when that began."""
    body = json.dumps({"payload": {"n": 1}}).encode()
    left = iter(range(number))
    lock = threading.Lock()
    failures: list[BaseException] = []

    def work() -> None:
        connection = Connection(context.server.url, context.server.key)
        try:
            while True:
                with lock:
                    if next(left, None) is None:
                        return
                connection.request("POST", f"/agents/{agent.id}/execute", body)
        except BaseException as failure:
            failures.append(failure)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
    began = time.time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return began


def wait_for_end(context: Context, agent: roost.Agent, number: int, since: float) -> "list[dict[str, Any]]":
    """The agent's latest ExecutorJobs, so many, when they all were made since then and have ended."""
    end = time.monotonic() + END_SECONDS
    while time.monotonic() < end:
        jobs = latest(context, agent, number)
        if len(jobs) == number and all(job["finished_at"] and created_of(job) >= since for job in jobs):
            for job in jobs:
                check_sum(1, job["execution"]["return_value"])
            return jobs
        time.sleep(0.5)  # The list costs the server something, too.
    raise WrongResultError(f"the executions had not ended within {END_SECONDS} s")


def latest(context: Context, agent: roost.Agent, number: int) -> "list[dict[str, Any]]":
    """The agent's latest ExecutorJobs, newest first."""
    jobs: list[dict[str, Any]] = []
    cursor = ""
    while len(jobs) < number:
        page = context.http.get(f"/executor-jobs?agent_id={agent.id}&limit={min(200, number - len(jobs))}{cursor}")
        jobs += page["data"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    return jobs
