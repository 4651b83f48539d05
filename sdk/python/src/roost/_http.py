"""httpx, imported when it is first needed.

Importing httpx takes longer than importing all of Roost, so `import roost` leaves it to the first
client. Where click and rich are installed, httpx would import its own command line with them as
well; it does without, as it does where they are not installed.
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
        """The names of httpx; each is kept when it has been asked for once."""

        def __getattr__(self, name):
            value = getattr(_load(), name)
            setattr(self, name, value)
            return value

    httpx = _Lazy()
