"""An agent that begins with a template of the gallery."""

from hands import SOON, editor
from playwright.sync_api import expect


def test_a_template_is_found_and_becomes_an_agent(page, roost):
    page.goto("/create")
    page.get_by_role("link", name="More templates").click()
    gallery = page.get_by_role("list", name="Templates")
    expect(gallery.get_by_role("listitem")).not_to_have_count(0)
    page.get_by_label("Search templates").fill("nothing of that")
    expect(page.get_by_text("No matching templates")).to_be_visible()
    page.get_by_role("button", name="Show all templates").click()
    page.keyboard.press("Escape")
    page.get_by_label("Search templates").fill("signature webhook")
    expect(gallery.get_by_role("listitem")).to_have_count(1)
    gallery.get_by_role("link", name="Webhook receiver").click()

    expect(page.get_by_role("region", name="What it needs")).to_contain_text("WEBHOOK_SECRET")
    expect(page.locator("code-editor.script")).to_contain_text("hmac.compare_digest")
    page.get_by_role("link", name="Use template").click()
    expect(page.get_by_label("Name")).to_have_value("webhook-receiver")
    expect(page.locator("details.template-needs")).to_contain_text("WEBHOOK_SECRET")
    expect(editor(page, "Script")).to_contain_text("hmac.compare_digest")
    expect(page.locator("run-panel code-editor")).to_contain_text('"signature"')


def test_each_template_has_a_page(page, roost):
    for template in roost.get("/templates")["data"]:
        page.goto("/templates/" + template["name"])
        expect(page.get_by_role("heading", name=template["title"], level=1)).to_be_visible(timeout=SOON)
    page.goto("/templates/none")
    expect(page.locator(".notice")).to_be_visible()
