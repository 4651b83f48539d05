class OrderFailed(Exception):
    pass


def main(request):
    try:
        {}["price"]
    except KeyError as error:
        raise OrderFailed("no price") from error
