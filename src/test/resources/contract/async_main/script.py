import asyncio


async def main(request, store):
    await asyncio.sleep(0)
    return ["awaited", request.attempt]
