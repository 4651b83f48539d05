"""What holds of every page: it can be used by everybody, in both colour schemes, on every screen."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from every_page import NAMES, address, settled
from hands import overview, preloaded
from playwright.sync_api import Page

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# A colour scheme changes nothing else, and has the same colours at each size.
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
RULES = {"light": STANDARDS, "dark": COLOURS}
SCHEMES = {"desktop": ("light", "dark"), "phone": ("light",)}
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
WIDTHS = (390, 480, 768, 1024, 1280, 1920, 3840)
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("name", NAMES)
def test_a_page_can_be_used_by_everybody_on_every_screen(page, estate, name):
    page.goto(address(name, estate))
    settled(page)
    wrong = everything_wrong(page)
    assert not wrong, "\n".join(wrong)


# With long names, as those of modules are.
PRELOADED = {
    "revision": 2,
    "modules": 4_812,
    "packages": [f"package_{number}" for number in range(40)],
    "import_seconds": 1.85,
    "memory_bytes": 512 << 20,
    "left_out": [
        {"module": ".".join(["a_rather_long_name_of_a_module"] * 6), "reason": "starts a thread " + "and more " * 30},
        *({"module": f"module_{number}", "reason": "opens a file descriptor"} for number in range(199)),
    ],
    "updated_at": "2026-01-14T12:00:00.000000Z",
}


def test_preloaded_imports_can_be_used_by_everybody_on_every_screen(page, estate):
    preloaded(page, estate.report, PRELOADED)
    page.goto(address("agent-builds", estate))
    page.get_by_role("region", name="Modules that are left out").wait_for()
    settled(page)
    wrong = everything_wrong(page)
    page.unroute_all()
    assert not wrong, "\n".join(wrong)


def test_the_content_of_a_file_can_be_used_by_everybody_on_every_screen(page, estate):
    page.goto(address("execution", estate))
    page.get_by_role("button", name="Show orders-2026-01-14.csv").click()
    page.get_by_role("table").filter(has_text="returned").wait_for()
    settled(page)
    wrong = everything_wrong(page)
    assert not wrong, "\n".join(wrong)


def test_files_to_submit_can_be_used_by_everybody_on_every_screen(page, estate):
    page.goto(address("agent", estate))
    settled(page)
    contents = {"orders-of-the-whole-year-and-of-all-subsidiaries.csv": b"a,b", "notes.txt": b""}
    files = [{"name": name, "mimeType": "text/plain", "buffer": content} for name, content in contents.items()]
    page.locator("file-inputs input[type=file]").set_input_files(files)
    page.get_by_label("Name of notes.txt").fill("")
    page.get_by_role("button", name="Run", exact=False).first.click()
    page.get_by_text("A name is required.").wait_for()
    settled(page)
    wrong = everything_wrong(page)
    assert not wrong, "\n".join(wrong)


def test_the_sign_in_can_be_used_by_everybody(open_context):
    page = open_context().new_page()
    page.goto("/agents")
    page.get_by_role("heading", name="Sign in to Roost").wait_for()
    assert not sideways(page)
    assert not findings(page)


@pytest.mark.parametrize("keys", ["Control+k", "?"])
def test_a_dialog_can_be_used_by_everybody(page, keys):
    overview(page)
    page.keyboard.press(keys)
    page.get_by_role("dialog").wait_for()
    assert not findings(page)


def everything_wrong(page: Page) -> "list[str]":
    """What is wrong with the page that is shown, on all screens, a line each."""
    wrong = [f"{width} px: scrolls sideways by {over}" for width, over in sideways(page).items()]
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        wrong += [f"{size}, {finding}" for finding in findings(page, SCHEMES[size])]
    return wrong


def sideways(page: Page) -> "dict[int, int]":
    """By how many pixels the page is too wide, of the widths where it is."""
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        over = page.evaluate(SIDEWAYS)
        if over > 0:
            found[width] = over
    return found


def findings(page: Page, schemes: "tuple[str, ...]" = ("light", "dark")) -> "list[str]":
    """What axe has found in these colour schemes, a line each."""
    found = []
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        answer = Axe().run(page, options={"runOnly": RULES[scheme], "resultTypes": ["violations"]}).response
        found += [
            f"{scheme}: {rule['id']}: {rule['help']}: {node['target']} {node['failureSummary']}".replace("\n", " ")
            for rule in answer["violations"]
            for node in rule["nodes"]
        ]
    return found
