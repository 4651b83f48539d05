"""`roost init`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import connect
from .echo import echo
from .failures import FAILED, Failure
from .options import connected
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["init"]


@click.command(
    epilog=examples(
        """
        roost init                                  # lists the templates
        roost init --template page-monitor
        roost init --template csv-report reports/sales.py
        """
    )
)
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@click.option("-t", "--template", metavar="NAME", help="The template.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@connected
def init(file: Path | None, template: str | None, force: bool, as_json: bool) -> None:
    """Write a script from a template of the server; without --template, list the templates.

    FILE is NAME.py by default. Its header has the requirements and the agent's name, so that `roost
    run` and `roost deploy` take it as it is.
    """
    found = connect.client().templates()
    if template is None:
        if file is not None:
            raise click.UsageError("FILE requires --template.")
        _list(found, as_json)
        return
    chosen = next((each for each in found if each.name == template), None)
    if chosen is None:
        names = ", ".join(each.name for each in found)
        raise Failure(f"There is no template {template!r}.", FAILED, f"There are {names}.")
    path = file or Path(f"{chosen.name}.py")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8", newline="\n") as target:
            target.write(header(chosen) + chosen.script)
    except FileExistsError:
        raise Failure(f"{path} exists.", FAILED, "--force replaces it.") from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", FAILED) from None
    _report(chosen, path, as_json)


def header(template: roost.AgentTemplate) -> str:
    """Return the header of a script: a PEP 723 block with the template's settings."""
    dependencies = [line for line in template.requirements.splitlines() if line.strip()]
    lines = ["dependencies = ["]
    lines += [f"    {json.dumps(line)}," for line in dependencies]
    lines += ["]", "", "[tool.roost]", f"name = {json.dumps(template.name)}"]
    if template.tags:
        lines.append(f"tags = {json.dumps(list(template.tags))}")
    if template.uses_store:
        lines.append(f"stores = [{json.dumps(template.name)}]")
    if template.schedule is not None:
        cron = json.dumps(template.schedule.cron)
        lines.append(f"# {template.schedule.reason}; add the payload:")
        lines.append(f"# schedules = [{{ cron = {cron} }}]")
    text = "\n".join(lines).replace("dependencies = [\n]", "dependencies = []")
    block = "\n".join(f"# {line}".rstrip() for line in text.split("\n"))
    return f"# /// script\n{block}\n# ///\n"


def _list(templates: list[roost.AgentTemplate], as_json: bool) -> None:
    from .output import Column, print_json, table

    if as_json:
        print_json([_data(each) for each in templates])
    else:
        columns = (Column("NAME", whole=True), Column("WHAT IT DOES"))
        table(columns, [(each.name, each.summary) for each in templates])


def _data(template: roost.AgentTemplate) -> dict[str, object]:
    import dataclasses

    return dataclasses.asdict(template)


def _report(template: roost.AgentTemplate, path: Path, as_json: bool) -> None:
    from .output import note, print_json

    if as_json:
        print_json({"file": str(path), "template": template.name})
        return
    echo(str(path))
    for variable in template.variables:
        optional = "" if variable.required else " (optional)"
        note(f"{variable.name}{optional}: {variable.description}, such as {variable.example}")
    variables = " --env-file .env" if template.variables else ""
    payload = "" if template.payload is None else " --payload '…'"
    note(f"Next: roost run {path}{variables}{payload}, then roost deploy {path}{variables}")
    if template.payload is not None:
        note(f"An example payload: {json.dumps(template.payload, ensure_ascii=False)}")
