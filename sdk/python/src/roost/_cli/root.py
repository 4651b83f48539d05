"""`roost`: its commands, and the handling of their errors."""

from __future__ import annotations

import importlib
import os
from typing import Any

import click

from . import failures
from .echo import echo
from .groups import Group
from .options import State, profile_option
from .texts import examples

__all__ = ["root"]

SECTIONS = {
    "Sign in": {
        "login": "account:login",
        "logout": "account:logout",
        "whoami": "account:whoami",
        "open": "browse:open_",
    },
    "Write and run agents": {
        "init": "init:init",
        "run": "run:run",
        "deploy": "deploy:deploy",
        "execute": "execute:execute",
        "payloads": "saved_payloads:payloads",
        "url": "url:url",
        "send": "send:send",
        "cancel": "ending:cancel",
        "delete": "ending:delete",
    },
    "Inspect": {
        "list": "lists:list_",
        "show": "show:show",
        "logs": "logs:logs",
        "stream": "stream:stream",
        "steps": "steps:steps",
        "files": "job_files:files",
        "search": "search:search",
        "issues": "issues:issues",
        "approvals": "approvals:approvals",
        "notifications": "notifications:notifications",
        "builds": "builds:builds",
        "revisions": "revisions:revisions",
        "rollback": "revisions:rollback",
    },
    "Update dependencies": {
        "rollout": "rollout:rollout",
        "rebuild": "rollout:rebuild",
    },
    "Run on a schedule": {
        "schedule": "schedule:schedule",
        "schedules": "schedules:schedules",
    },
    "Data and keys": {
        "store": "store:store",
        "keys": "keys:keys",
    },
    "Other": {
        "completion": "completion:completion",
        "version": "version:version",
    },
}

_MODULES = {name: place for section in SECTIONS.values() for name, place in section.items()}


class Root(Group):
    """A group that imports commands on demand, and converts errors to exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module; only click is imported with it."""
        place = _MODULES.get(cmd_name)
        if place is None:
            return None
        module, _, attribute = place.partition(":")
        command = getattr(importlib.import_module(f"{__package__}.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections, one line each."""
        width = max(map(len, _MODULES))
        for title, commands in SECTIONS.items():
            rows: list[tuple[str, str]] = []
            for name in commands:
                command = self.get_command(ctx, name)
                if command is not None:
                    rows.append((name.ljust(width), command.get_short_help_str(90)))
            with formatter.section(title):
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors become a message and an exit code."""
        with failures.reported(ctx):
            return super().invoke(ctx)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from .version import text

        echo(text())
        ctx.exit()


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        """
        roost login                                    # once, for a remote server
        roost run greeter.py --payload '{"name": "Ada"}'  # locally, without a server
        roost deploy greeter.py
        roost execute greeter --payload '{"name": "Ada"}' --follow
        roost logs greeter
        """
    ),
)
@profile_option
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the versions of roost and Python.",
)
@click.pass_context
def root(ctx: click.Context) -> None:
    """Run Python agents with Roost.

    AGENT is an agent's id or name. Every command with output takes --json. Results go to standard
    output, everything else to standard error.

    \b
    Exit codes: 0 success, 1 the execution or the build failed, 2 usage error, 3 not signed in or
    not allowed, 4 not found, 5 rejected (a conflict, invalid input), 6 server unreachable, 124
    timeout, 130 Ctrl-C. ROOST_DEBUG=1 shows tracebacks, NO_COLOR=1 disables colours.
    """
    ctx.ensure_object(State)
    if os.environ.get("NO_COLOR"):
        ctx.color = False
