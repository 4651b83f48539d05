def check(value):
    if value < 0:
        raise ValueError(f"{value} is negative")


def main(request):
    print("checking")
    check(request.payload)
