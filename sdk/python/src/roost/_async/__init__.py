"""The package with `async def`; `roost.aio` is its public face, and `_sync` is made from it."""
