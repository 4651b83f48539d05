"""httpx, imported on first use.

Importing httpx takes longer than importing all of Roost, so it is deferred to the first client.
The command line of httpx, which would import click and rich, is never imported.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

__all__ = ["httpx"]

if TYPE_CHECKING:
    import httpx as httpx
else:
    _COMMAND_LINE = "httpx._main"

    def _load():
        if "httpx" not in sys.modules:
            sys.modules.setdefault(_COMMAND_LINE, None)  # makes its import an ImportError
        try:
            import httpx
        finally:
            if sys.modules.get(_COMMAND_LINE, sys) is None:
                sys.modules.pop(_COMMAND_LINE, None)
        return httpx

    class _Lazy:
        """The attributes of httpx, cached after the first access."""

        def __getattr__(self, name):
            value = getattr(_load(), name)
            setattr(self, name, value)
            return value

    httpx = _Lazy()
