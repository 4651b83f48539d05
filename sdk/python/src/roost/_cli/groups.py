"""A group of commands with suggestions for misspelt names."""

from __future__ import annotations

import click

from .failures import Failure, did_you_mean

__all__ = ["Group"]


class Group(click.Group):
    """A group that suggests the nearest name for a command that doesn't exist."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            suggestion = did_you_mean(args[0], known)
            hint = f"`{ctx.command_path} --help` lists all commands."
            raise Failure(
                f'There is no command "{ctx.command_path} {args[0]}".{suggestion}', hint=hint
            )
        return super().resolve_command(ctx, args)
