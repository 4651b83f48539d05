import yaml_that_is_not_there.nodes


def main():
    return yaml_that_is_not_there
