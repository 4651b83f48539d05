"""What an agent has where nothing is said, as on a server."""

__all__ = ["MEMORY_MIB", "TIMEOUT_SECONDS"]

TIMEOUT_SECONDS = 900.0
MEMORY_MIB = 256
