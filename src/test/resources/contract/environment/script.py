import os

GREETING = os.environ["GREETING"]


def main(request):
    return {"greeting": GREETING, "scheduled": request.scheduled, "time": str(request.scheduled_time)}
