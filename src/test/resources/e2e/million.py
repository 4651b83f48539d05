"""Goes through a large store."""

import resource


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(request, store):
    before = peak_mib()
    count = total = 0
    previous = ""
    for key, value in store.items(prefix="k/"):
        assert previous < key, f"{previous} and then {key}"
        previous = key
        count += 1
        total += value["n"]
    tenth = store.keys(prefix=request.payload["tenth"])
    return {
        "count": count,
        "total": total,
        "length": len(store),
        "tenth": [len(tenth), sum(1 for _ in tenth)],
        "more_mib": peak_mib() - before,
    }
