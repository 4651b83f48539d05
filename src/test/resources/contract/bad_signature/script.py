LIMIT = 3


def main(request, store, limit, *, strict):
    return limit
