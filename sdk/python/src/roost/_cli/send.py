"""`roost send`."""

from __future__ import annotations

import click

from . import connect
from .failures import Failure
from .options import connected
from .payloads import read_json
from .texts import examples

__all__ = ["send"]


@click.command(
    epilog=examples(
        """
        roost send approved --job xjob_01m8… --data '{"by": "Ada"}'
        roost send paid --key order-17 --data @payment.json
        """
    )
)
@click.argument("name")
@click.option("--job", metavar="JOB", help="The job whose script waits for the event.")
@click.option("--key", metavar="KEY", help="The key that a script waits for, in whichever job.")
@click.option("--data", metavar="JSON", help="JSON, @FILE, or - for standard input; null without.")
@connected
def send(name: str, job: str | None, key: str | None, data: str | None, as_json: bool) -> None:
    """Send an event to a script that waits for it with request.wait_for_event.

    If none waits for it yet, the event is stored for the first one that does.
    """
    if (job is None) == (key is None):
        raise Failure("Give either --job or --key.", hint="`roost send --help` has examples.")
    from .output import data_of, note, print_json

    value = None if data is None else read_json(data, "--data")
    client = connect.client()
    if job is not None:
        event = client.executor_jobs.retrieve(job).send_event(name, value)
    else:
        assert key is not None
        event = client.send_event(name, value, key=key)
    if as_json:
        print_json(data_of(event))
    elif event.received_at is not None:
        note(f"{event.executor_job_id} has received {event.id}.")
    else:
        note(f"{event.id} is stored: no script waits for it yet.")
