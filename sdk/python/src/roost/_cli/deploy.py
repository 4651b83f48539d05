"""`roost deploy`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import connect
from .failures import FAILED, TIMED_OUT, Failure, detach
from .options import complete, connected, store_names
from .spans import SPAN
from .texts import examples

if TYPE_CHECKING:
    import roost

    from .._bundles import Scan
    from .planning import Plan
    from .project import AgentFile

__all__ = ["deploy"]


@click.command(
    epilog=examples(
        """
        roost deploy greeter.py            # settings from its header
        roost deploy                       # all agents of ./roost.toml, or of ./pyproject.toml
        roost deploy --only reports --dry-run
        roost deploy greeter.py -r requirements.txt --python 3.13 --env LANG=en
        """
    )
)
@click.argument(
    "path",
    metavar="[FILE|roost.toml|pyproject.toml|DIR]",
    default=".",
    type=click.Path(path_type=Path),
)
@click.option("--only", multiple=True, metavar="NAME", help="Only this agent of a roost.toml.")
@click.option("--name", metavar="NAME", help="The agent's name; overrides the file.")
@click.option("--python", metavar="3.13", help="The Python version.")
@click.option(
    "-r",
    "--requirements",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file of requirements, one per line; overrides the header.",
)
@click.option("--env", multiple=True, metavar="KEY=VALUE", help="An environment variable.")
@click.option(
    "--env-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file of KEY=VALUE lines.",
)
@click.option(
    "--store",
    multiple=True,
    metavar="NAME",
    shell_complete=complete(store_names),
    help="A store; created if missing.",
)
@click.option(
    "--tag",
    multiple=True,
    metavar="TAG",
    help="A tag, such as team/crawlers; all --tag replace the agent's tags.",
)
@click.option(
    "--upgrade",
    is_flag=True,
    help="Get the newest versions of requirements that allow several.",
)
@click.option("--no-wait", is_flag=True, help="Don't wait for the build.")
@click.option("--timeout", type=SPAN, help="Maximum time to wait for each build.")
@click.option("--dry-run", is_flag=True, help="Show the changes without applying them.")
@connected
def deploy(
    path: Path,
    only: Sequence[str],
    name: str | None,
    python: str | None,
    requirements: Path | None,
    env: Sequence[str],
    env_file: Path | None,
    store: Sequence[str],
    tag: Sequence[str],
    upgrade: bool,
    no_wait: bool,
    timeout: float | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Create or update agents from scripts, or from directories with all their files.

    Agents are matched by name. Settings in the file are applied; settings that the file doesn't
    mention stay unchanged, and so do the variables if it has none. Schedules whose names begin
    with "deploy/" are synchronized with the file: created, updated or deleted. Other schedules
    aren't touched.

    With a pyproject.toml that has a table [tool.roost], or `directory` in a roost.toml, the agent
    gets the files of that directory: those that Git tracks or would, without those of a
    .roostignore. Only what has changed is sent.

    Requirements may allow several versions, as in "pandas>=2". Then uv chooses one for each
    package, also for what these require, and the agent keeps these versions until its requirements
    no longer allow them, or --upgrade is given. A uv.lock or pylock.toml beside the pyproject.toml
    has the versions if there is one.

    The script is first compiled with the agent's Python, if that is installed here. The command
    then waits for the build of the dependencies, after which the new revision runs. If the build
    fails, the previous revision still runs and the exit code is 1. If nothing has changed, nothing
    happens.
    """
    from .compiling import compile_script
    from .flags import with_flags
    from .output import note
    from .planning import plan
    from .project import Project

    project = Project.read(path)
    files: Sequence[AgentFile] = project.agents
    if only:
        files = [project.agent(each) for each in only]
    if not files:
        raise Failure(
            f"{project.path} has no agents.", hint="Add a table [agents.NAME] for each agent."
        )
    flags: dict[str, Any] = {
        "name": name,
        "python": python,
        "requirements": requirements,
        "env": env,
        "env_file": env_file,
        "stores": store,
        "tags": tag,
    }
    if any(flags.values()):
        if len(files) > 1:
            raise click.UsageError(
                "--name, --python, --requirements, --env, --env-file, --store and --tag apply to "
                "one agent; select it with --only NAME."
            )
        files = [with_flags(files[0], **flags)]
    client = connect.client()
    plans = [plan(client, file, upgrade) for file in files]
    if dry_run:
        _show(plans, as_json)
        return
    for each in plans:
        unchecked = compile_script(each)
        if unchecked and not as_json:
            note(unchecked)
    deployed = [(each, _apply(client, each, as_json)) for each in plans]
    if not no_wait:
        _await(deployed, timeout, as_json)
    elif not as_json:
        for _, agent in deployed:
            if agent.building_revision is not None:
                note(f"Revision {agent.building_revision} is building{_until(agent)}.")
    if as_json:
        _print_deployed(deployed)


def _show(plans: Sequence[Plan], as_json: bool) -> None:
    """Print the changes that a deployment would apply."""
    from .output import heading, note, print_diff, print_json

    if as_json:
        print_json([_plan_data(each) for each in plans])
        return
    for each in plans:
        if each.action == "nothing":
            note(f"{each.file.name}: nothing would change.")
        else:
            heading(f"{each.file.name} would be {_done(each)}")
            print_diff(each.all_changes(), "now", "deployed")


def _plan_data(plan: Plan) -> dict[str, Any]:
    from .output import data_of

    return {
        "name": plan.file.name,
        "action": plan.action,
        "agent_id": plan.agent.id if plan.agent else None,
        "changes": [data_of(change.as_data()) for change in plan.all_changes()],
    }


def _done(plan: Plan) -> str:
    return {"create": "created", "update": "updated", "nothing": "unchanged"}[plan.action]


def _apply(client: roost.Client, plan: Plan, as_json: bool) -> roost.Agent:
    """Create or update the agent and its schedules, and report it."""
    from .output import note

    agent = plan.agent
    settings = dict(plan.settings)
    if plan.files is not None:
        settings["bundle"] = _upload(client, plan, plan.files, as_json)
        settings["script_path"] = plan.file.script_path
    if agent is None:
        agent = client.agents.create(**settings)
    elif settings:
        agent.update(**settings)
    for each in plan.schedules:
        if each.present is None:
            assert each.wanted is not None
            client.schedules.create(agent_id=agent.id, name=each.name, **_without_none(each.wanted))
        elif each.wanted is None:
            each.present.delete()
        else:
            each.present.update(**each.wanted)
    if not as_json:
        if plan.action == "nothing":
            note(f"{agent.name} is up to date: revision {agent.revision}.")
        else:
            what = ", ".join(_summary(plan))
            note(f"{_done(plan).capitalize()} {agent.name}, revision {agent.revision}: {what}.")
    return agent


def _upload(client: roost.Client, plan: Plan, files: Scan, as_json: bool) -> roost.Bundle:
    """Send the files of the project, and report how many that were."""
    from .output import note
    from .progress import Progress
    from .times import size

    with Progress() as progress:

        def show(sent: int, total: int) -> None:
            progress.say(f"Sending the files of {plan.file.name}: {size(sent)} of {size(total)}")

        base = plan.agent.bundle_id if plan.agent else None
        bundle, sent = client.bundles._upload(files, base, show)
    if not as_json:
        shown = f"{len(sent.packed):,} of {len(files.files):,} files"
        note(f"Sent {shown}, {size(sent.packed_bytes)}.")
    return bundle


def _summary(plan: Plan) -> list[str]:
    """Return a short summary of the changes."""
    if plan.action == "create":
        count = len(plan.file.requirements)
        parts = [f"Python {plan.settings['python_version']}", _count(count, "requirement")]
        if plan.files is not None:
            parts.append(_count(len(plan.files.files), "file"))
        if plan.schedules:
            parts.append(_count(len(plan.schedules), "schedule"))
        return parts
    return list(dict.fromkeys(change.what for change in plan.all_changes()))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _without_none(settings: Any) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if value is not None}


def _await(
    deployed: Sequence[tuple[Plan, roost.Agent]], timeout: float | None, as_json: bool
) -> None:
    """Wait for the builds, and suggest the next command. Raises `Failure` if a build failed."""
    from .build_watch import await_build
    from .output import note

    failures: list[str] = []
    for plan, agent in deployed:
        try:
            job = await_build(agent, timeout)
        except KeyboardInterrupt:
            detach(
                f"Detached; {agent.name} is still being built{_until(agent)}.",
                f"`roost logs -f {agent.latest_builder_job_id}` follows the build.",
            )
        except TimeoutError:
            hint = f"`roost logs -f {agent.latest_builder_job_id}` follows the build."
            message = f"{agent.name} is still being built after {timeout:g} s{_until(agent)}."
            raise Failure(message, TIMED_OUT, hint) from None
        if job.state != "succeeded":
            failures.append(f"{_build_failure(plan, job)}\n{_not_deployed(agent)}")
        elif not as_json and plan.action != "nothing":
            note(f"Next: roost execute {_quoted(agent.name)} --follow")
    if failures:
        if as_json:
            _print_deployed(deployed)
        raise Failure("\n".join(failures), FAILED)


def _until(agent: roost.Agent) -> str:
    runs = agent.running_revision
    return "" if runs is None else f"; revision {runs} runs until then"


def _not_deployed(agent: roost.Agent) -> str:
    runs = agent.running_revision
    if runs is None:
        return "Not deployed; no revision runs yet."
    return f"Not deployed; revision {runs} still runs."


def _build_failure(plan: Plan, job: roost.BuilderJob) -> str:
    """Return the build's error, with the requirements that it names."""
    reason = f" ({job.reason})" if job.reason else ""
    text = f"{plan.file.name} can't be built{reason}: {job.message or job.state}"
    for requirement in plan.file.requirements:
        name = requirement.replace("[", "=").partition("=")[0].strip()
        if name and job.message and name.lower() in job.message.lower():
            text += f"\n  {_where(plan, requirement)}: {requirement}"
    return f"{text}\n`roost logs {job.id}` prints uv's output."


def _where(plan: Plan, requirement: str) -> str:
    """Return the file and line of a requirement, if found."""
    for path in reversed(plan.file.files):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            if requirement in line:
                return f"{path}:{number}"
    return "requirements"


def _print_deployed(deployed: Sequence[tuple[Plan, roost.Agent]]) -> None:
    from .output import data_of, print_json, shown_data

    items: list[dict[str, Any]] = []
    for plan, agent in deployed:
        job = connect.client().builder_jobs.retrieve(agent.latest_builder_job_id)
        items.append(
            {
                **_plan_data(plan),
                "agent_id": agent.id,
                "agent": shown_data(agent),
                "bundle": _bundle_data(agent),
                "builder_job": data_of(job),
            }
        )
    print_json(items)


def _bundle_data(agent: roost.Agent) -> Any:
    from .output import data_of

    if agent.bundle_id is None:
        return None
    return data_of(connect.client().bundles.retrieve(agent.bundle_id))


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)
