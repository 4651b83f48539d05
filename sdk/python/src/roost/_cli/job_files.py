"""`roost files`."""

from __future__ import annotations

from pathlib import Path

import click

from .failures import Failure
from .options import connected, target_argument
from .steps import job_of
from .texts import examples

__all__ = ["files"]


@click.command(
    epilog=examples(
        """
        roost files xjob_01m8…
        roost files xjob_01m8… --download results
        roost files xjob_01m8… --download . --name totals.csv
        """
    )
)
@target_argument("target", "JOB|EXECUTION")
@click.option(
    "--download",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the artifacts into this directory.",
)
@click.option("--name", metavar="NAME", help="Only the file with this name.")
@connected
def files(target: str, download: Path | None, name: str | None, as_json: bool) -> None:
    """List the files of a job, or download its artifacts.

    These are the files that were submitted with its payload (input), those that its script has made
    (artifact), and a payload or return value of more than 256 KiB. With --download, prints the
    paths of what it has written; existing files are replaced.
    """
    from . import kinds
    from .echo import echo

    job = job_of(target)
    found = [each for each in job.files() if name in (None, each.name)]
    if name is not None and not found:
        raise Failure(f"{job.id} has no file with the name {name!r}.")
    if download is None:
        kinds.files(job).show(found, as_json=as_json, limit=None)
        return
    download.mkdir(parents=True, exist_ok=True)
    for each in found:
        if each.kind == "artifact" or name is not None:
            echo(str(each.file.download(download)))
