"""What keeps a script from being run at all."""

__all__ = ["BuildFailed", "CannotRun"]


class CannotRun(Exception):
    """This machine can't run the agent; the text says what to do."""


class BuildFailed(Exception):
    """The requirements can't be installed; `reason` and `message` are as a BuilderJob has them."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message
