"""Schemas of an agent: saved in its settings, and then a form for its payload."""

import json

from hands import SOON, press, returned, saw_toast, write
from playwright.sync_api import expect

AGENT = """\
def main(request):
    return request.payload
"""
# As pydantic writes them.
SCHEMA = {
    "$defs": {"Size": {"enum": ["small", "large"], "title": "Size", "type": "string"}},
    "type": "object",
    "required": ["customer"],
    "properties": {
        "customer": {"title": "Customer", "type": "string", "minLength": 2, "description": "The name on the invoice"},
        "hours": {"anyOf": [{"type": "number", "minimum": 0.25}, {"type": "null"}], "title": "Hours"},
        "size": {"$ref": "#/$defs/Size"},
        "urgent": {"title": "Urgent", "type": "boolean"},
        "lines": {"type": "array"},
    },
}


def test_a_schema_is_saved_and_its_mistakes_are_shown(page, roost, agent):
    page.goto(f"/agents/{agent['id']}/settings")
    write(page, "Input schema", '{"type": ')
    press(page, "Save settings")
    expect(page.locator("#input_schema-mistakes li")).to_have_count(1)
    write(page, "Input schema", '{"pattern": "(?=a)"}')
    press(page, "Save settings")
    expect(page.locator("#input_schema-mistakes")).to_contain_text("not one of RE2")
    write(page, "Input schema", json.dumps(SCHEMA))
    press(page, "Save settings")
    saw_toast(page, "Settings saved.")
    assert roost.get("/agents/" + agent["id"])["input_schema"] == SCHEMA
    page.goto(f"/agents/{agent['id']}/revisions")
    expect(page.locator("main")).to_contain_text("input schema")
    page.goto(f"/agents/{agent['id']}/settings")
    write(page, "Input schema", "")
    press(page, "Save settings")
    saw_toast(page, "Settings saved.")
    assert roost.get("/agents/" + agent["id"])["input_schema"] is None


def test_a_payload_is_filled_in_and_what_is_wrong_stands_at_its_field(page, roost, agent):
    roost.call("PATCH", "/agents/" + agent["id"], {"input_schema": SCHEMA})
    page.goto("/agents/" + agent["id"])
    form = page.get_by_role("group", name="Properties of the payload")
    expect(form.get_by_role("textbox")).to_have_count(1)
    form.get_by_label("Hours (optional)").fill("0.1")
    press(page, "Run")
    expect(form.locator("#payload-customer-mistakes")).to_contain_text("customer is required")
    expect(form.locator("#payload-hours-mistakes")).to_contain_text("minimum value of 0.25")
    form.get_by_label("Customer").fill("Ada")
    form.get_by_label("Hours (optional)").fill("1.50")
    form.get_by_label("Size (optional)").select_option("large")
    form.get_by_label("Urgent (optional)").select_option("Yes")
    text = page.locator("run-panel code-editor")
    expect(text).to_contain_text('"hours": 1.50')
    form.get_by_label("Urgent (optional)").select_option("")
    expect(text).not_to_contain_text("urgent")
    press(page, "Run")
    expect(returned(page)).to_contain_text("large", timeout=SOON)
    # The text of the payload stays the truth, also for what the form can't show.
    write(page, "Payload, JSON", '{"customer": "Bo", "lines": [1.10]}')
    expect(form.get_by_label("Customer")).to_have_value("Bo")
    form.get_by_label("Customer").fill("Eve")
    expect(text).to_contain_text("1.10")
    write(page, "Payload, JSON", "[]")
    expect(form).to_have_count(0)
