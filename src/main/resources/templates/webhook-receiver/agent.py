import hashlib
import hmac
import json
import os

REMEMBER_SECONDS = 7 * 24 * 3600


def main(request, store):
    delivery = request.payload
    body = delivery["body"].encode()
    secret = os.environ["WEBHOOK_SECRET"].encode()
    expected = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, delivery.get("signature", "")):
        raise PermissionError("the signature is missing or wrong")
    key = f"delivery:{delivery['id']}"
    with store.lock(key):
        if store.get(key):
            print(f"{delivery['id']} was handled before")
            return {"handled": False}
        result = handle(json.loads(body))
        store.set(key, True, ttl=REMEMBER_SECONDS)
    return {"handled": True, "result": result}


def handle(event):
    """Replace this by what an event should cause."""
    print(f"Handling {event}")
    return event.get("action")
