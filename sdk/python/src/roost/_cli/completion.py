"""`roost completion`."""

from __future__ import annotations

import click

from .echo import echo
from .texts import examples

__all__ = ["completion"]


@click.command(
    epilog=examples(
        """
        roost completion bash > ~/.local/share/bash-completion/completions/roost
        roost completion zsh > ~/.zfunc/_roost
        roost completion fish > ~/.config/fish/completions/roost.fish
        """
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a shell's completion script for commands and names of agents and stores."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    root = ctx.find_root()
    echo(kind(root.command, {}, "roost", "_ROOST_COMPLETE").source())
