"""What scripts and build code begin with that try to get at what isn't theirs: how each attempt ends."""

ATTEMPT = """
def attempt(call, *arguments):
    try:
        call(*arguments)
        return "done"
    except OSError as error:
        return type(error).__name__

def read(path):
    open(path, "rb").read(10)

def write(path):
    open(path, "ab").close()

"""
