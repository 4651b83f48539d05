"""Agents of many files: what the files have, the script that is changed, and what a revision changed of them."""

from typing import Any
from uuid import uuid4

import pytest
from hands import SOON, editor, press, returned, saw_toast, write
from playwright.sync_api import Locator, Page, expect
from roost_client import Roost

MAIN = b"""\
from shop.prices import PRICES

def main(request):
    return PRICES["tea"]
"""
FILES = {
    "src/main.py": MAIN,
    "src/shop/__init__.py": b"# The shop.\n",
    "src/shop/prices.py": b'PRICES = {"tea": 5}\n',
    "data/prices.csv": b"name,price\ntea,5\n",
    "data/raw/model.bin": bytes(range(256)) * 100,
    "README.md": b"# <b>Shop</b>\n",
}


@pytest.fixture
def project(roost: Roost) -> Any:
    bundle = roost.bundle(FILES)
    settings = {"bundle_id": bundle["id"], "script_path": "src/main.py"}
    return roost.post("/agents", {"name": f"shop-{uuid4().hex[:8]}", **settings})


def files_of(page: Page, agent: Any) -> Locator:
    page.goto(f"/agents/{agent['id']}")
    return page.locator("project-files")


def test_the_files_of_a_project_are_shown(sign_in: Any, project: Any) -> None:
    page = sign_in()
    files = files_of(page, project)
    expect(files.get_by_role("heading", name="Files")).to_be_visible()
    expect(files).to_contain_text("6 files, 25")
    expect(files.get_by_role("button", name="Show src/main.py")).to_be_visible()
    expect(page.locator(".script > header")).to_contain_text("src/main.py")
    for path, shown in {
        "src/shop/prices.py": "PRICES = ",
        "README.md": "# <b>Shop</b>",
        "data/prices.csv": "tea",
        "data/raw/model.bin": "The file is not text.",
    }.items():
        files.get_by_role("button", name=f"Show {path}").click()
        dialog = page.get_by_role("dialog", name=path)
        expect(dialog.locator("project-file")).to_contain_text(shown)
        dialog.get_by_role("button", name="Close").click()
    files.get_by_role("button", name="Show data/raw/model.bin").click()
    with page.expect_download() as download:
        press(page, "Download")
    assert download.value.suggested_filename == "model.bin"
    with open(download.value.path(), "rb") as file:
        assert file.read() == FILES["data/raw/model.bin"]


def test_the_script_of_a_project_is_changed_and_its_revisions_compared(
    sign_in: Any, roost: Roost, project: Any
) -> None:
    page = sign_in()
    files_of(page, project)
    expect(editor(page, "Script")).to_contain_text("PRICES")
    write(page, "Script", MAIN.decode().replace('tea"]', 'tea"] + 1'))
    press(page, "Save and run")
    expect(returned(page)).to_contain_text("6", timeout=SOON)
    saved = roost.get(f"/agents/{project['id']}")
    assert saved["revision"] == 2 and saved["bundle_id"] != project["bundle_id"]
    more = {"src/shop/prices.py": b'PRICES = {"tea": 7}\n', "data/new.txt": b"new\n"}
    bundle = roost.bundle(more, base=saved["bundle_id"])
    roost.call("PATCH", f"/agents/{project['id']}", {"bundle_id": bundle["id"]})
    page.goto(f"/agents/{project['id']}/revisions")
    changes = page.locator("bundle-changes")
    expect(changes.get_by_text("data/new.txt")).to_be_visible()
    expect(changes).not_to_contain_text("README.md")
    changes.get_by_text("src/shop/prices.py").click()
    expect(changes.locator("code-diff ins")).to_contain_text("7")
    expect(changes.locator("code-diff del")).to_contain_text("5")
    press(page, "Roll back to revision 2")
    page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    saw_toast(page, "revision 4")
    assert roost.get(f"/agents/{project['id']}")["bundle_id"] == saved["bundle_id"]
