"""Errors that prevent a run."""

__all__ = ["BuildFailed", "CannotLock", "CannotRun"]


class CannotRun(Exception):
    """This machine can't run the agent; the message says what to do."""


class BuildFailed(Exception):
    """The requirements can't be installed; `reason` and `message` are a BuilderJob's."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


class CannotLock(Exception):
    """No versions fit the requirements; the message is uv's."""
