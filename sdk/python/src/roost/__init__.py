"""Roost's Python SDK: create agents, run them, read their results and logs.

::

    import roost

    agent = roost.Agent.create(script=open("greeter.py").read(), requirements="Jinja2==3.1.4")
    execution = agent.execute(payload={"name": "Ada"})
    print(execution.return_value)

The API key is `roost.api_key`, or `ROOST_API_KEY` in the environment, or, for a server on this
machine, its key file. The server is `roost.base_url`, or `ROOST_URL`, or `http://127.0.0.1:8080`.
For several servers or keys, create a `roost.Client` for each.

`roost.aio` is the same API for asyncio.

All errors are `roost.RoostError`; see `roost._errors` for the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _version

if TYPE_CHECKING:
    from . import aio as aio
    from ._public import *  # noqa: F403
    from ._public import __all__ as __all__
else:
    # Lazy, since loading everything, with an HTTP library, takes a quarter of a second, which the
    # command line's help and completion don't need.
    def __getattr__(name):
        if name == "aio":
            from importlib import import_module

            return import_module("roost.aio")
        if name == "Request":  # all that most scripts import
            from ._request import Request

            return Request
        if name == "__all__" or not name.startswith("_"):
            from . import _public

            own = ["api_key", "base_url", "progress", "__version__"]
            globals().update({each: getattr(_public, each) for each in _public.__all__})
            globals()["__all__"] = [*own, *_public.__all__]
            if name in globals():
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        special = (name for name in globals() if name.startswith("__"))
        return sorted({*special, "aio", *__getattr__("__all__")})


__version__: str = _version.VERSION

api_key: str | None = None
"""The API key of the default client; used from the next call on."""

base_url: str | None = None
"""The server of the default client; used from the next call on."""

progress: bool | None = None
"""Whether to show a progress line while waiting, on stderr or below a notebook's cell.

`None`: on the main thread, if stderr is a terminal or in a notebook.
"""
