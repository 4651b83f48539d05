"""The agents that the clients call."""

ADD = """
def main(request):
    print("adding")
    request.progress(0.5, "half")
    request.emit("a value")
    return {"sum": request.payload["a"] + request.payload["b"]}
"""
PAY = """
def main(request):
    form = {"properties": {"amount": {"type": "number", "minimum": 1}}, "required": ["amount"]}
    decision = request.approval("Pay?", request.payload, form=form)
    return [bool(decision), decision.value]
"""
REPORT = """
def main(request):
    request.artifact(b"a,b\\n1,2\\n", name="report.csv")
    return "written"
"""
SLOW = """
import time

def main(request, store):
    store["begun"] = True
    time.sleep(600)
"""
FAIL = """
def main(request):
    raise LookupError("no such order")
"""
LIE = "def main(request):\n    return {'sum': 'three'}\n"
SQUARE = "def main(request):\n    return request.payload ** 2\n"
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}
SUM = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}

# By the names of their tools
AGENTS = {
    "add": {"script": ADD, "input_schema": NUMBERS, "output_schema": SUM, "tool_description": "Adds two numbers."},
    "fail": {"script": FAIL},
    "lie": {"script": LIE, "output_schema": SUM},
    "pay": {"script": PAY},
    "report": {"script": REPORT},
    "slow": {"script": SLOW},
    "square": {"script": SQUARE, "input_schema": {"type": "integer"}},
}
