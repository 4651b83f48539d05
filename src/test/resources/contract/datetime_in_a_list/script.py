import datetime


def main():
    return {"items": [1, 2, 3, {"when": datetime.datetime(2026, 1, 1)}]}
