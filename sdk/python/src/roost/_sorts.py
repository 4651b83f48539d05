"""The orders of lists: a minus before a key is descending."""

from __future__ import annotations

from typing import Literal

__all__ = ["AgentSort", "ExecutionSort"]

AgentSort = Literal[
    "created",
    "-created",
    "name",
    "-name",
    "last_execution",
    "-last_execution",
    "failures",
    "-failures",
]
"""The orders of a list of agents."""

ExecutionSort = Literal["started", "-started", "duration", "-duration"]
"""The orders of a list of Executions."""
