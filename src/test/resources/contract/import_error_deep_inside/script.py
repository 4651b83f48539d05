def load():
    from time import nothing_of_the_kind

    return nothing_of_the_kind


load()


def main():
    pass
