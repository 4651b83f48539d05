"""What the first official client with Streamable HTTP can do: it speaks 2024-11-05.

python oldest_client.py URL KEY
"""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

URL, KEY = sys.argv[1:3]


async def main() -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    async with (
        streamablehttp_client(URL + "/mcp", headers=headers) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        begun = await session.initialize()
        assert begun.protocolVersion == "2024-11-05", begun
        assert begun.serverInfo.name == "roost"
        tools = [tool.name for tool in (await session.list_tools()).tools]
        assert tools == ["add", "fail", "lie", "pay", "report", "slow", "square"], tools
        result = await session.call_tool("add", {"a": 1, "b": 2})
        assert not result.isError and json.loads(result.content[0].text) == {"sum": 3}, result
        result = await session.call_tool("fail", {})
        assert result.isError and "LookupError" in result.content[0].text, result
        resources = (await session.list_resources()).resources
        read = (await session.read_resource(resources[0].uri)).contents[0].text
        assert json.loads(read)["id"].startswith("xjob_")


asyncio.run(asyncio.wait_for(main(), 300))
