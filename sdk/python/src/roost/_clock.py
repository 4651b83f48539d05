"""Time and randomness, which tests replace."""

from __future__ import annotations

import random
import time

__all__ = ["Clock"]


class Clock:
    """Monotonic time, sleep and randomness."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start; never goes back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block for that long."""
        time.sleep(seconds)

    async def asleep(self, seconds: float) -> None:
        """Suspend the task for that long."""
        import anyio

        await anyio.sleep(seconds)

    def uniform(self, low: float, high: float) -> float:
        """Return a random number between the two."""
        return random.uniform(low, high)
