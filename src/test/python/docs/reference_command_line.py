"""The reference of the command line, from the help of its commands."""

from collections.abc import Iterator

import click
from roost._cli.root import root

INTRODUCTION = """# The command line: reference

What `roost COMMAND --help` prints. [The guide](../guides/command-line.md) shows how the commands go together.
"""


def page() -> str:
    """The Markdown page."""
    return "\n".join(_page(root, "roost", None))


def _page(command: click.Command, name: str, parent: "click.Context | None") -> "Iterator[str]":
    context = command.make_context(name, [], parent, resilient_parsing=True, terminal_width=100)
    if parent is None:
        yield INTRODUCTION
    yield f"## {context.command_path}\n\n```\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            yield from _page(command.get_command(context, each), each, context)
