"""Numbers that a run has measured, for its summary."""

measured: "list[str]" = []


def note(what: str) -> None:
    """Has the run print it at its end."""
    measured.append(what)
