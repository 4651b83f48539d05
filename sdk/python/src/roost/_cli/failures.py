"""Error messages and exit codes."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from .echo import echo
from .mistakes import ProjectError

if TYPE_CHECKING:
    import roost

__all__ = [
    "CONFLICT",
    "FAILED",
    "INTERRUPTED",
    "NOT_ALLOWED",
    "NOT_FOUND",
    "TIMED_OUT",
    "UNREACHABLE",
    "USAGE",
    "Failure",
    "detach",
    "did_you_mean",
    "reported",
]

FAILED = 1
USAGE = 2
NOT_ALLOWED = 3
NOT_FOUND = 4
CONFLICT = 5
UNREACHABLE = 6
TIMED_OUT = 124
INTERRUPTED = 130


class Failure(click.ClickException):
    """An error for the person at the terminal, in a line or two.

    `hint` says what to do, on a separate line.
    """

    def __init__(self, message: str, exit_code: int = USAGE, hint: str | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.hint = hint

    def show(self, file: Any = None) -> None:
        """Write it to standard error."""
        color = False if os.environ.get("NO_COLOR") else None
        title = click.style("Error:", fg="red", bold=True)
        echo(f"{title} {self.message}", err=True, color=color)
        if self.hint:
            echo(self.hint, err=True)


def detach(message: str, hint: str) -> NoReturn:
    """Exit after Ctrl-C while the server continues: not an error, so no "Error:"."""
    echo(message, err=True)
    echo(hint, err=True)
    raise click.exceptions.Exit(INTERRUPTED)


@contextlib.contextmanager
def reported(context: click.Context) -> Generator[None, None, None]:
    """Convert the block's exceptions to an error message and an exit code."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit):
        raise
    except BrokenPipeError:  # the reader of our output has closed it
        raise
    except (KeyboardInterrupt, click.Abort):
        echo("", err=True)
        context.exit(INTERRUPTED)
    except Exception as error:
        if os.environ.get("ROOST_DEBUG"):
            raise
        raise _failure(error) from error


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return a suggestion that begins with a space, or nothing if no known word is close."""
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f' Did you mean "{near[0]}"?' if near else ""


def _failure(error: Exception) -> Failure:
    import roost

    if isinstance(error, roost.RoostError):
        code, hint = _meaning(error)
        return Failure(_text(error), code, hint)
    if isinstance(error, ProjectError):
        return Failure(str(error), USAGE)
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return Failure(f"{name}{error.strerror or error}", USAGE)
    if isinstance(error, (ValueError, TypeError)):  # invalid arguments, from the SDK
        return Failure(str(error), USAGE, "ROOST_DEBUG=1 shows the traceback.")
    hint = "This is a bug in Roost. ROOST_DEBUG=1 shows the traceback."
    return Failure(f"{type(error).__name__}: {error}", FAILED, hint)


def _meaning(error: roost.RoostError) -> tuple[int, str | None]:
    import roost

    if isinstance(error, (roost.ExecutionFailed, roost.BuildFailed)):
        return FAILED, None
    if isinstance(error, roost.ScriptError):
        return USAGE, None
    if isinstance(error, roost.AuthenticationError):
        return NOT_ALLOWED, "`roost login` signs in; `roost whoami` shows the key in use."
    if isinstance(error, roost.PermissionDenied):
        return (
            NOT_ALLOWED,
            "`roost whoami` shows your role; `roost keys create` creates other keys.",
        )
    if isinstance(error, roost.NotFound):
        return NOT_FOUND, None
    if isinstance(error, roost.APITimeout):
        return TIMED_OUT, None
    if isinstance(error, roost.APIConnectionError):
        return UNREACHABLE, "Set the server's URL with ROOST_URL or `roost login --url URL`."
    if isinstance(error, (roost.Unavailable, roost.ServerError)):
        return UNREACHABLE, None
    return CONFLICT, None


def _text(error: roost.RoostError) -> str:
    """Return the message without the status and the code, which are for programs."""
    if error.detail is None or error.status is None:
        # The rest is advice for Python code; the hint has the command line's.
        text = str(error).partition(" Start it, or set roost.base_url")[0]
        return text[:1].upper() + text[1:]
    errors: Sequence[roost.FieldError] = getattr(error, "errors", ())
    if len(errors) == 1:
        text = str(errors[0])
    else:
        text = error.detail + "".join(f"\n  {each}" for each in errors)
    if error.status >= 500 and error.request_id:
        text += f" (request {error.request_id})"
    return text
