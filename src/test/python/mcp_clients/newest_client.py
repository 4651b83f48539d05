"""What the newest official client for Python can do, in both of its modes.

python newest_client.py URL KEY KEY_THAT_READS
"""

import asyncio
import contextlib
import json
import sys
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult

URL, KEY, KEY_THAT_READS = sys.argv[1:4]


@contextlib.asynccontextmanager
async def connected(mode: str, path: str = "/mcp", key: str = KEY, **options: Any):  # noqa: ANN201 - a Client
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=300, trust_env=False) as http:
        transport = streamable_http_client(URL + path, http_client=http)
        async with Client(transport, mode=mode, **options) as client:
            yield client


def text(result: Any) -> str:
    return result.content[0].text


async def tools_are_called(mode: str) -> None:
    async with connected(mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["add", "fail", "lie", "pay", "report", "slow", "square"], tools
        assert tools["add"].description == "Adds two numbers."
        assert tools["add"].input_schema["required"] == ["a", "b"]
        assert tools["add"].output_schema["required"] == ["sum"]
        assert tools["square"].input_schema["properties"]["payload"] == {"type": "integer"}
        progress = []

        async def reported(done: float, total: "float | None", message: "str | None") -> None:
            progress.append((done, total, message))

        result = await client.call_tool("add", {"a": 1, "b": 2.5}, progress_callback=reported)
        assert not result.is_error and result.structured_content == {"sum": 3.5}, result
        assert json.loads(text(result)) == {"sum": 3.5}
        assert (0.5, 1.0, "half") in progress and '"a value"' in [message for _, _, message in progress], progress
        assert progress == sorted(progress, key=lambda each: each[0])
        result = await client.call_tool("square", {"payload": 12})
        assert text(result) == "144", result


async def mistakes_are_results(mode: str) -> None:
    async with connected(mode) as client:
        result = await client.call_tool("add", {"a": 1})
        assert result.is_error and text(result) == "/b: b is required.", result
        result = await client.call_tool("fail", {})
        assert result.is_error and text(result).startswith("LookupError: no such order"), result
        assert 'raise LookupError("no such order")' in text(result)
        result = await client.call_tool("lie", {})
        assert result.is_error and "does not match the agent's output_schema" in text(result), result
        try:
            await client.call_tool("nobody", {})
            raise AssertionError("a tool that isn't there was called")
        except MCPError as e:
            assert e.error.message == "There is no tool nobody."


async def people_are_asked(mode: str) -> None:
    asked = []

    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params)
        return ElicitResult(action="accept", content={"amount": 20})

    async def refuse(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="decline")

    async with connected(mode, elicitation_callback=answer) as client:
        result = await client.call_tool("pay", {"order": 7})
        assert json.loads(text(result)) == [True, {"amount": 20}], result
        assert asked[0].message.startswith("Pay?") and "7" in asked[0].message
        assert asked[0].requested_schema["properties"]["amount"]["minimum"] == 1
        assert len(asked) == 1
    async with connected(mode, elicitation_callback=refuse) as client:
        result = await client.call_tool("pay", {"order": 8})
        assert json.loads(text(result)) == [False, None], result


async def results_have_files(mode: str) -> None:
    async with connected(mode) as client:
        result = await client.call_tool("report", {})
        assert text(result) == "written"
        link = result.content[1]
        assert (link.name, link.size) == ("report.csv", 8), link
        content = (await client.read_resource(str(link.uri))).contents[0]
        assert content.text == "a,b\n1,2\n", content
        uris = [str(each.uri) for each in (await client.list_resources()).resources]
        job = "roost://executor-jobs/" + result.meta["dev.roost/executor_job_id"]
        assert job in uris, uris
        assert json.loads((await client.read_resource(job)).contents[0].text)["state"] == "succeeded"
        result = await client.call_tool("add", {"a": 1, "b": 2})
        log = f"roost://executions/{result.meta['dev.roost/execution_id']}/log"
        assert (await client.read_resource(log)).contents[0].text == "adding"
        templates = (await client.list_resource_templates()).resource_templates
        assert "roost://stores/{store_id}/entries/{+key}" in [each.uri_template for each in templates]
        for uri in ("roost://executor-jobs/none", "roost://nothing", "roost://stores/none/entries/%zz"):
            try:
                await client.read_resource(uri)
                raise AssertionError(f"{uri} was read")
            except MCPError:
                pass


async def permissions_hold(mode: str) -> None:
    async with connected(mode, key=KEY_THAT_READS) as client:
        assert (await client.list_tools()).tools
        try:
            await client.call_tool("add", {"a": 1, "b": 2})
            raise AssertionError("a key that only reads has called a tool")
        except MCPError as e:
            print(mode, "a key that only reads:", e.error.message)
    for path, key in (("/mcp/admin", KEY_THAT_READS), ("/mcp", "roost_none_none")):
        refused = False
        try:
            async with connected(mode, path, key) as client:
                await client.list_tools()
        except Exception as e:  # noqa: BLE001 - the client puts some of them into groups
            refused = True
            print(mode, path, "refused:", type(e).__name__)
        assert refused, (path, key)


async def agents_are_written(mode: str) -> None:
    async with connected(mode, "/mcp/admin") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert {"roost_create_agent", "roost_update_agent", "roost_run_agent"} <= set(names), names

        async def call(tool: str, **arguments: Any) -> Any:
            return await client.call_tool(tool, arguments)

        assert "3.13" in (await call("roost_get_runtime")).structured_content["python_versions"]
        refused = await call("roost_create_agent", script="def main(): return 1", timeout=-1)
        assert refused.is_error and "timeout" in text(refused), refused
        script = "def main(request):\n    print('hello')\n    return request.payload['n'] + 1\n"
        made = await call("roost_create_agent", name=f"written-{mode}", script=script, env_vars="TOKEN=secret")
        agent = made.structured_content["id"]
        assert "secret" not in text(made) and "secret" not in text(await call("roost_get_agent", agent_id=agent))
        failed = await call("roost_run_agent", agent_id=agent, payload={})
        assert failed.is_error and "KeyError" in text(failed), failed
        script = script.replace("payload['n']", "payload.get('n', 0)")
        assert not (await call("roost_update_agent", agent_id=agent, script=script)).is_error
        result = await call("roost_run_agent", agent_id=agent, payload={})
        assert text(result) == "1", result
        log = await call("roost_get_execution_log", execution_id=result.meta["dev.roost/execution_id"])
        assert [line["message"] for line in log.structured_content["data"]] == ["hello"]
        jobs = await call("roost_list_jobs", agent_id=agent, state="failed")
        assert len(jobs.structured_content["data"]) == 1
        job = jobs.structured_content["data"][0]
        assert (await call("roost_get_job", executor_job_id=job["id"])).structured_content["reason"] == "exception"
        build = made.structured_content["latest_builder_job_id"]
        assert not (await call("roost_get_build_log", builder_job_id=build)).is_error
        found = await call("roost_list_agents", search=f"written-{mode}")
        assert [each["id"] for each in found.structured_content["data"]] == [agent]
        assert "secret" not in text(found)
        absent = await call("roost_get_agent", agent_id="agent_none")
        assert absent.is_error, absent


async def main() -> None:
    for mode in ("legacy", "auto"):
        async with connected(mode) as client:
            assert client.protocol_version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode]
        for check in (
            tools_are_called,
            mistakes_are_results,
            people_are_asked,
            results_have_files,
            permissions_hold,
            agents_are_written,
        ):
            await asyncio.wait_for(check(mode), 300)
            print(mode, check.__name__)


asyncio.run(main())
