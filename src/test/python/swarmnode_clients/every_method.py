"""Calls every class and method of an unmodified client. Run with its Python by test_published_clients.py.

Arguments: the API's base, a key, a key that may only read, a URL of some bytes, Roost's own URL, and a file to lock: pages of
lists shift when another client creates something.
"""

import asyncio
import fcntl
import json
import sys
import threading
import time
import urllib.request
import uuid

import requests
import swarmnode

BASE, KEY, READ_KEY, BYTES_URL, ROOST, LOCK = sys.argv[1:]
VERSION = swarmnode.__version__
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
LIMIT_SECONDS = 120
SCRIPT = """
import sys

def main(request, store):
    print("payload", request.payload)
    print("to stderr", file=sys.stderr)
    with store.transaction(lock=True):
        store["runs"] = store.get("runs", 0) + 1
    if request.payload == "fail":
        raise ValueError("as requested")
    if request.payload == "much":
        for number in range(30_000):
            print(number, "x" * 100)
        return "y" * 500_000
    return {"payload": request.payload, "scheduled": request.scheduled}
"""
swarmnode.api_base = BASE
swarmnode.api_key = KEY


def of_roost(prefix: str, identifier: str) -> str:
    """Roost's form of an identifier."""
    number, digits = uuid.UUID(identifier).int, ""
    for _ in range(26):
        digits = "0123456789abcdefghjkmnpqrstvwxyz"[number % 32] + digits
        number //= 32
    return f"{prefix}_{digits}"


def expect(kind: type, call) -> None:  # noqa: ANN001 - any callable
    """The error of a call is of that class, with a body that the class can be made of."""
    try:
        call()
    except kind as error:
        assert set(json.loads(str(error))) == {"message", "code", "extra"}, error
        assert isinstance(error.extra, dict) and error.message and error.code, error
    else:
        raise AssertionError(f"{kind.__name__} was not raised")


def every(first):  # noqa: ANN001, ANN201 - a page of any client
    """All results, over all pages; then back to the first page."""
    pages = [first]
    while (page := pages[-1].next()) is not None:
        pages.append(page)
    back = pages[-1]
    for earlier in reversed(pages[:-1]):
        back = back.previous()
        assert [each.id for each in back.results] == [each.id for each in earlier.results]
    assert back.previous() is None
    return [each for page in pages for each in page.results]


def check_stores():  # noqa: ANN201 - a Store
    stores = [swarmnode.Store.create(name=f"store {VERSION} {number}") for number in range(4)]
    assert stores[0].data == {} and stores[0].created
    renamed = swarmnode.Store.update(id=stores[1].id, name=f"renamed {VERSION}")
    assert renamed.name == f"renamed {VERSION}" and renamed.id == stores[1].id
    listed = [store.id for store in every(swarmnode.Store.list(page=1, page_size=2))]
    assert {store.id for store in stores} <= set(listed) and len(set(listed)) == len(listed)
    assert swarmnode.Store.list().total_count >= len(stores) and swarmnode.Store.list().current_page == 1
    assert swarmnode.Store.delete(id=stores[3].id) is None
    expect(swarmnode.errors.NotFound, lambda: swarmnode.Store.retrieve(id=stores[3].id))
    return stores[0]


def check_agents(store):  # noqa: ANN001, ANN201 - an Agent
    def create(number: int):  # noqa: ANN202
        return swarmnode.Agent.create(
            name=f"agent {VERSION} {number}",
            script=SCRIPT,
            python_version=PYTHON,
            store_id=store.id,
            requirements="",
            env_vars="COLOUR=blue",
        )

    agents = [create(number) for number in range(3)]
    agent = agents[0]
    assert (agent.script, agent.env_vars, agent.store_id) == (SCRIPT, "COLOUR=blue", store.id)
    assert swarmnode.Agent.retrieve(id=agent.id) == agent
    changed = swarmnode.Agent.update(id=agents[1].id, name=f"changed {VERSION}", env_vars="COLOUR=red")
    assert (changed.name, changed.env_vars, changed.script) == (f"changed {VERSION}", "COLOUR=red", SCRIPT)
    listed = [each.id for each in every(swarmnode.Agent.list(page=1, page_size=1))]
    assert {each.id for each in agents} <= set(listed)
    assert swarmnode.Agent.delete(id=agents[2].id) is None
    expect(swarmnode.errors.NotFound, lambda: swarmnode.Agent.retrieve(id=agents[2].id))
    return agent


def check_builds(agent) -> None:  # noqa: ANN001
    jobs = every(swarmnode.AgentBuilderJob.list(agent_id=agent.id))
    assert jobs and {job.agent_id for job in jobs} == {agent.id}
    assert swarmnode.AgentBuilderJob.retrieve(id=jobs[0].id) == jobs[0]
    builds = every(swarmnode.Build.list(agent_builder_job_id=jobs[0].id, page_size=1))
    assert [build.agent_builder_job_id for build in builds] == [jobs[0].id]
    build = swarmnode.Build.retrieve(id=builds[0].id)
    assert build.status == "success" and isinstance(build.logs, list)
    assert swarmnode.Build.list().total_count >= 1


def check_executions(agent, store) -> None:  # noqa: ANN001
    execution = agent.execute(payload={"n": 1.5}, wait=True)
    assert (execution.status, execution.agent_id) == ("success", agent.id), execution
    assert execution.return_value == {"payload": {"n": 1.5}, "scheduled": False}
    assert execution.start and execution.finish and execution.agent_executor_cron_job_id is None
    assert "to stderr" in [line["message"] for line in execution.logs]
    assert all(isinstance(value, str) for line in execution.logs for value in line.values())
    failed = agent.execute(payload="fail")
    assert failed.status == "failure" and failed.return_value is None
    assert any("ValueError: as requested" in line["message"] for line in failed.logs), failed.logs
    much = agent.execute(payload="much")
    assert much.return_value == "y" * 500_000 and 0 < len(much.logs) < 30_000

    job = agent.execute(payload=None, wait=False)
    assert swarmnode.AgentExecutorJob.retrieve(id=job.id) == job
    late = asyncio.get_event_loop().run_until_complete(
        swarmnode._client.Client.listen_to_execution(job.execution_address)
    )
    again = asyncio.get_event_loop().run_until_complete(
        swarmnode._client.Client.listen_to_execution(job.execution_address)
    )
    assert late == again and json.loads(late)["agent_executor_job_id"] == job.id
    finished = swarmnode.Execution(**json.loads(late))
    assert swarmnode.Execution.retrieve(id=finished.id) == finished

    jobs = [agent.execute(wait=False) for _ in range(12)]
    listed = [each.id for each in every(swarmnode.AgentExecutorJob.list(agent_id=agent.id))]
    assert listed[:12] == [each.id for each in reversed(jobs)] and len(listed) == 16
    executions = every(swarmnode.Execution.list(agent_id=agent.id))
    assert len([each for each in executions if each.agent_executor_job_id]) == 16
    one = swarmnode.Execution.list(agent_executor_job_id=job.id).results
    assert [each.id for each in one] == [finished.id]
    assert swarmnode.Store.retrieve(id=store.id).data["runs"] >= 4


class CronRuns(threading.Thread):
    """What `stream()` gives: runs on schedule and runs that Roost is asked for."""

    def __init__(self, cron_job) -> None:  # noqa: ANN001
        super().__init__(daemon=True)
        self.cron_job, self.executions = cron_job, []
        self.start()

    def run(self) -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        for execution in self.cron_job.stream():
            self.executions.append(execution)

    def wait_for(self, scheduled: bool) -> None:
        end = time.monotonic() + LIMIT_SECONDS
        while scheduled not in [each.return_value["scheduled"] for each in self.executions]:
            assert time.monotonic() < end and self.is_alive(), self.executions
            time.sleep(0.1)


def check_cron_jobs(agent) -> CronRuns:  # noqa: ANN001
    create = swarmnode.AgentExecutorCronJob.create
    cron_job = create(agent_id=agent.id, name="each minute", expression="* * * * *")
    other = create(agent_id=agent.id, name="yearly", expression="0 0 1 1 *")
    assert (cron_job.status, cron_job.expression, cron_job.agent_id) == ("running", "* * * * *", agent.id)
    runs = CronRuns(cron_job)
    changed = swarmnode.AgentExecutorCronJob.update(id=other.id, name="once a year", status="suspended")
    assert (changed.name, changed.status) == ("once a year", "suspended")
    assert swarmnode.AgentExecutorCronJob.retrieve(id=other.id) == changed
    listed = every(swarmnode.AgentExecutorCronJob.list(agent_id=agent.id, page_size=1))
    assert [each.id for each in listed] == [other.id, cron_job.id]
    assert swarmnode.AgentExecutorCronJob.delete(id=other.id) is None
    expect(swarmnode.errors.NotFound, lambda: swarmnode.AgentExecutorCronJob.retrieve(id=other.id))
    return runs


def check_cron_runs(runs: CronRuns) -> None:
    identifier = of_roost("sched", runs.cron_job.id)
    request = urllib.request.Request(
        f"{ROOST}/v1/schedules/{identifier}/trigger", method="POST", headers={"Authorization": f"Bearer {KEY}"}
    )
    urllib.request.urlopen(request, timeout=60).close()
    runs.wait_for(scheduled=False)
    runs.wait_for(scheduled=True)
    for execution in runs.executions:
        assert execution.agent_executor_cron_job_id == runs.cron_job.id and execution.agent_executor_job_id is None
        assert execution.status == "success"
    listed = swarmnode.Execution.list(agent_executor_cron_job_id=runs.cron_job.id).results
    assert {each.id for each in runs.executions} <= {each.id for each in listed}
    swarmnode.AgentExecutorCronJob.update(id=runs.cron_job.id, status="suspended")


def check_assets(agent) -> None:  # noqa: ANN001
    content = bytes(range(256)) * 20_000  # more than one part
    large = swarmnode.Asset.binary_save(name="all/bytes.bin", binary_data=content, agent_id=agent.id)
    assert (large.name, large.agent_id) == ("all/bytes.bin", agent.id)
    assert requests.get(large.url, timeout=60).content == content
    small = swarmnode.Asset.base64_save(name="a.txt", base64_data="data:text/plain;base64,aGVsbG8=", agent_id=None)
    assert small.agent_id is None and requests.get(small.url, timeout=60).content == b"hello"
    empty = swarmnode.Asset.binary_save(name="empty", binary_data=b"", agent_id=agent.id)
    assert requests.get(empty.url, timeout=60).content == b""
    fetched = swarmnode.Asset.url_save(url=BYTES_URL, agent_id=agent.id)
    assert requests.get(fetched.url, timeout=60).content == requests.get(BYTES_URL, timeout=60).content
    assert swarmnode.Asset.retrieve(id=large.id).name == large.name
    listed = [each.id for each in every(swarmnode.Asset.list(agent_id=agent.id, page_size=1))]
    assert listed == [fetched.id, empty.id, large.id]
    assert small.id in [each.id for each in every(swarmnode.Asset.list())]
    expect(swarmnode.errors.NotFound, lambda: swarmnode.Asset.retrieve(id="nonsense"))
    expect(swarmnode.errors.NotFound, lambda: swarmnode.Asset._confirm_asset_storage(str(uuid.uuid4())))
    url = swarmnode.Asset._create_asset_storage_request("a", None).presigned_url
    for wrong in (url[:-1] + ("0" if url[-1] != "0" else "1"), url.replace("expires=", "expires=9")):
        answer = requests.post(wrong, data={"key": "x"}, files={"file": b"a"}, timeout=60)
        assert answer.status_code == 404 and set(answer.json()) == {"message", "code", "extra"}
    request = swarmnode.Asset._create_asset_storage_request("not uploaded", None)
    expect(swarmnode.errors.BadRequest, lambda: swarmnode.Asset._confirm_asset_storage(request.request_id))
    before = swarmnode.Agent.create("short-lived", SCRIPT, PYTHON, agent.store_id)
    lost = swarmnode.Asset.binary_save(name="lost", binary_data=b"a", agent_id=before.id)
    swarmnode.Agent.delete(id=before.id)
    expect(swarmnode.errors.NotFound, lambda: swarmnode.Asset.retrieve(id=lost.id))
    assert requests.get(lost.url, timeout=60).status_code == 404


def check_errors(agent, store) -> None:  # noqa: ANN001
    for kind in (swarmnode.Agent, swarmnode.Store, swarmnode.Build, swarmnode.Execution):
        expect(swarmnode.errors.NotFound, lambda kind=kind: kind.retrieve(id=str(uuid.uuid4())))
        expect(swarmnode.errors.NotFound, lambda kind=kind: kind.retrieve(id="nonsense"))
    expect(swarmnode.errors.NotFound, lambda: swarmnode.AgentExecutorJob.create(agent_id=str(uuid.uuid4())))
    expect(swarmnode.errors.BadRequest, lambda: swarmnode.Agent.create("x", SCRIPT, "2.7", store.id))
    expect(swarmnode.errors.BadRequest, lambda: swarmnode.Agent.update(id=agent.id, colour="red"))
    expect(swarmnode.errors.BadRequest, lambda: swarmnode.Agent.list(page=0))
    expect(swarmnode.errors.BadRequest, lambda: swarmnode.Store.create(name=""))
    expect(swarmnode.errors.BadRequest, lambda: swarmnode.Store.delete(id=store.id))
    expect(
        swarmnode.errors.BadRequest,
        lambda: swarmnode.AgentExecutorCronJob.create(agent_id=agent.id, name="wrong", expression="tomorrow"),
    )
    swarmnode.api_key = "wrong"
    expect(swarmnode.errors.Unauthenticated, swarmnode.Agent.list)
    expect(swarmnode.errors.Unauthenticated, lambda: swarmnode.Agent.retrieve(id="nonsense"))
    expect(swarmnode.errors.Unauthenticated, lambda: swarmnode.Agent.create("x", SCRIPT, "2.7", "nonsense"))
    listen = swarmnode._client.Client.listen_to_execution
    for key, address, status in (("wrong", "a" * 26, 401), (KEY, "a" * 26, 404), (KEY, "x", 404)):
        swarmnode.api_key = key
        try:
            asyncio.get_event_loop().run_until_complete(listen(address))
            raise AssertionError("the handshake was not refused")
        except Exception as error:
            assert f"HTTP {status}" in str(error), repr(error)
    swarmnode.api_key = READ_KEY
    assert swarmnode.Agent.retrieve(id=agent.id).env_vars != "COLOUR=blue"
    expect(swarmnode.errors.Unauthenticated, lambda: swarmnode.Agent.delete(id=agent.id))
    swarmnode.api_key = KEY
    assert swarmnode.Agent.retrieve(id=agent.id).id == agent.id


def main() -> None:
    asyncio.set_event_loop(asyncio.new_event_loop())
    with open(LOCK, "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        store = check_stores()
        agent = check_agents(store)
        check_executions(agent, store)
        # Not before: what starts at a full minute would shift the pages of executions.
        runs = check_cron_jobs(agent)
        check_builds(agent)
        check_errors(agent, store)
        if hasattr(swarmnode, "Asset"):
            check_assets(agent)
    check_cron_runs(runs)
    print("every method:", VERSION)


if __name__ == "__main__":
    main()
