"""The welcome agent: change it, run it, delete it."""

import platform

import humanize


def main(request, store):
    name = (request.payload or {}).get("name", "world")
    runs = store.get("runs", 0) + 1
    store["runs"] = runs
    print(f"Hello {name}, this is Python {platform.python_version()}.")
    print(f"This agent has run {humanize.apnumber(runs)} time{'' if runs == 1 else 's'}; its store remembers.")
    return {"greeting": f"Hello {name}!", "runs": runs}
