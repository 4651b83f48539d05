"""The files of jobs: what a script stores is shown and downloaded, and what it reads is uploaded."""

import hashlib
import json
from base64 import b64decode
from typing import Any
from uuid import uuid4

import pytest
from hands import SOON, editor, press, returned, saw_toast, write
from playwright.sync_api import Locator, Page, expect
from roost_client import Roost, until

# Of pyarrow, compressed with Snappy: city (string), count (int64), at (timestamp), nothing (null), three rows.
PARQUET = """\
UEFSMRUEFTIVNkwVBBUAEgAAGWAGAAAAw4VzZWxlCwAAADxiPkJlcm48L2I+FQAVEhUWLBUGFRAVBhUGHAAAAAkgAgAAAAMDAQMC
FQQVIBUkTBUEFQASAAAQPAEAAAAAAAAAAQAAAAAAIAAVABUSFRYsFQYVEBUGFQYcAAAACSACAAAAAwMBAwIVBBUgFSRMFQQVABIA
ABA8ALaKwFVIBgDgPjA7AV0DABUAFRIVFiwVBhUQFQYVBhwAAAAJIAIAAAADBQEDAhUEFQAVAkwVABUAEgAAABUAFQ4VEiwVBhUQ
FQYVBhwAAAAHGAIAAAAGAAAVBBlcNQAYBnNjaGVtYRUIABUMJQIYBGNpdHklAEwcAAAAFQQlAhgFY291bnQAFQQlAhgCYXQlFEyM
ERwsAAAAAAAVAiUCGAdub3RoaW5nbLwAAAAWBhkcGUwmABwVDBk1AAYQGRgEY2l0eRUCFgYWhgEWjgEmWiYIKSwVBBUAFQIAFQAV
EBUCADwWIhkGGSYCBAAAACYAHBUEGTUABhAZGAVjb3VudBUCFgYWdBZ8JtYBJpYBKSwVBBUAFQIAFQAVEBUCADwpBhkmAgQAAAAm
ABwVBBk1AAYQGRgCYXQVAhYGFnQWfCbSAiaSAiksFQQVABUCABUAFRAVAgA8KQYZJgIEAAAAJgAcFQIZNQAGEBkYB25vdGhpbmcV
AhYGFlAWViasAyaOAyksFQQVABUCABUAFRAVAgA8KQYZJgYAAAAAFr4DFgYmCBbcAwAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNp
b24gMjYuMC4xGUwcAAAcAAAcAAAcAAAAfgEAAFBBUjE=
"""

# Of pyarrow, a column for each codec: two rows, "aaaaaaaaaaaaaaaaaaaa" and "of " with the codec's name.
CODECS = """\
UEFSMRUAFVYVPCwVBBUAFQYVBhwAAAArKAIAAAAEARQAAABhSgEAMAkAAABvZiBzbmFwcHkVABVSFVIsFQQVABUGFQYcAAAAH4sIAAAA
AAACA2NiYGBgYRQBkolYADtQPD9NIb0qswAAMJbjWikAAAAVABVWFUYsFQQVABUGFQYcAAAAGyoAAERvOPL49btfDqWUkoYgFl2WUYdj
BiBkLqLoluftTwMVABVSFUosFQQVABUGFQYcAAAAKLUv/SAp5QAAsAIAAAAEARQAAABhBwAAAG9mIHpzdGQBAAnwAhUAFVAVNCwVBBUA
FQYVBhwAAAC/AgAAAAQBFAAAAGEBAACgBgAAAG9mIGx6NBUEGWw1ABgGc2NoZW1hFQoAFQwlAhgGc25hcHB5JQBMHAAAABUMJQIYBGd6
aXAlAEwcAAAAFQwlAhgGYnJvdGxpJQBMHAAAABUMJQIYBHpzdGQlAEwcAAAAFQwlAhgDbHo0JQBMHAAAABYEGRwZXCYAHBUMGSUGABkY
BnNuYXBweRUCFgQWfBZiJghJHBUAFQAVAgA8FjoZBhkmAAQAAAAmABwVDBklBgAZGARnemlwFQQWBBZ4FngmakkcFQAVABUCADwWNhkG
GSYABAAAACYAHBUMGSUGABkYBmJyb3RsaRUIFgQWfBZsJuIBSRwVABUAFQIAPBY6GQYZJgAEAAAAJgAcFQwZJQYAGRgEenN0ZBUMFgQW
eBZwJs4CSRwVABUAFQIAPBY2GQYZJgAEAAAAJgAcFQwZJQYAGRgDbHo0FQ4WBBZ2FlomvgNJHBUAFQAVAgA8FjQZBhkmAAQAAAAW3gQW
BCYIFpAEACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZXBwAABwAABwAABwAABwAAACfAQAAUEFSMQ==
"""

MAKER = f'''\
import json
import struct
import zlib
from base64 import b64decode
from pathlib import Path

PARQUET = """\\
{PARQUET}"""
CODECS = """\\
{CODECS}"""


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height):
    rows = (b"\\0" + b"\\x40\\x60\\xc0" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\\x89PNG\\r\\n\\x1a\\n" + data


def main(request):
    store = request.artifact
    store(png(64, 32), name="chart.png")
    store(b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><script>alert(1)</script></svg>',
          name="drawing.svg")
    store('city,note\\r\\nÅsele,"a ""b"", c"\\r\\nBern,<img src=x onerror=alert(1)>\\r\\n'.encode(), name="cities.csv")
    store("".join(f"{{n}},{{n * n}}\\n" for n in range(150)).encode(), name="squares.csv", type="text/csv")
    Path("notes.txt").write_text("<b>plain</b> text\\n")
    store("notes.txt")
    store(b"0123456789\\n" * 10_000, name="long.txt")
    store(json.dumps({{"total": 12, "big": 10**24}}).encode(), name="result.json")
    store(b64decode(PARQUET), name="cities.parquet")
    store(b64decode(CODECS), name="codecs.parquet")
    store(b"PAR1 no table PAR1", name="broken.parquet")
    store(b"PNG?", name="broken.png")
    store(b"", name="empty.txt")
    store(bytes(range(256)) * 20_000, name="data.bin")
    return "stored"
'''
# 5,120,000 bytes: two parts.
DATA = bytes(range(256)) * 20_000

SLOW = """\
def main(request):
    request.artifact(b"1", name="first.txt")
    request.wait_for_event("go", timeout=600)
    request.artifact(b"22", name="second.txt")
"""

READER = """\
import hashlib

def main(request):
    return {
        name: f"{path.name} {path.stat().st_size} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for name, path in request.files.items()
    }
"""


@pytest.fixture(scope="module")
def made(roost) -> Any:
    """An execution whose script has stored files of all kinds."""
    execution = roost.run(roost.agent(f"stores-{uuid4()}", MAKER))
    assert execution["state"] == "succeeded", execution
    return execution


@pytest.fixture
def reader(roost) -> Any:
    """An agent that returns the names, sizes and digests of its files."""
    agent = roost.agent(f"reads-{uuid4()}", READER)
    roost.built(agent)
    return agent


def files(page: Page) -> Locator:
    return page.get_by_role("region", name="Files")


def shown(page: Page, name: str) -> Locator:
    """The preview of a file."""
    page.get_by_role("button", name=f"Show {name}").click()
    return files(page).get_by_role("listitem").filter(has_text=name).locator("file-preview")


def cells(preview: Locator) -> "list[list[str]]":
    """The text of a table's cells, row by row, with its head."""
    expect(preview.get_by_role("table")).to_be_visible()
    rows = preview.get_by_role("row").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def test_files_are_listed_in_the_order_in_which_they_were_stored(page, made):
    page.goto("/executions/" + made["id"])
    names = files(page).locator(".name")
    expect(names.first).to_have_text("chart.png")
    expect(names).to_have_count(13)
    expect(files(page).get_by_role("listitem").nth(4)).to_contain_text("text/plain")
    expect(files(page).get_by_role("listitem").nth(4)).to_contain_text("artifact")
    expect(files(page).get_by_role("listitem").nth(12)).to_contain_text("4.88 MiB")
    expect(page.get_by_role("button", name="Show data.bin")).to_have_count(0)


def test_images_are_shown_and_their_scripts_do_not_run(page, made):
    page.goto("/executions/" + made["id"])
    image = shown(page, "chart.png").get_by_role("img", name="chart.png")
    expect(image).to_have_js_property("naturalWidth", 64)
    drawing = shown(page, "drawing.svg").get_by_role("img", name="drawing.svg")
    expect(drawing).to_have_js_property("naturalWidth", 40)
    assert drawing.get_attribute("src").startswith("data:image/svg+xml;"), "no page of this origin"
    expect(shown(page, "broken.png")).to_contain_text("can’t show this image")
    page.get_by_role("button", name="Hide chart.png").click()
    expect(image).to_have_count(0)


def test_texts_are_shown_as_texts(page, made):
    page.goto("/executions/" + made["id"])
    expect(shown(page, "notes.txt").get_by_role("group")).to_have_text("<b>plain</b> text\n")
    long = shown(page, "long.txt")
    expect(long).to_contain_text("The first 64.0 KiB of 107 KiB.")
    assert len(long.get_by_role("group").text_content()) == 64 * 1024
    expect(shown(page, "result.json").locator("json-tree")).to_contain_text("1" + "0" * 24)
    expect(shown(page, "empty.txt")).to_have_text("The file is empty.")


def test_tables_are_shown_with_their_first_rows(page, made):
    page.goto("/executions/" + made["id"])
    assert cells(shown(page, "cities.csv")) == [
        ["city", "note"],
        ["Åsele", 'a "b", c'],
        ["Bern", "<img src=x onerror=alert(1)>"],
    ]
    squares = shown(page, "squares.csv")
    expect(squares).to_contain_text("The first 100 rows.")
    assert cells(squares)[-1] == ["100", "10000"]


def test_parquet_files_are_shown_with_types_and_missing_values(page, made):
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto("/executions/" + made["id"])
    expect(files(page)).to_be_visible()
    assert not any("hyparquet" in url for url in loaded), "only whoever shows one loads its code"
    assert cells(shown(page, "cities.parquet")) == [
        ["city\nstring", "count\nint64", "at\ntimestamp UTC", "nothing\nnull"],
        ["Åsele", "1", "2026-01-14 09:30:00", "null"],
        ["<b>Bern</b>", "9007199254740993", "null", "null"],
        ["null", "null", "1999-12-31 23:59:59.5", "null"],
    ]
    expect(files(page)).to_contain_text("3 rows.")
    codecs = ("snappy", "gzip", "brotli", "zstd", "lz4")
    assert cells(shown(page, "codecs.parquet")) == [
        [f"{codec}\nstring" for codec in codecs],
        ["a" * 20] * len(codecs),
        [f"of {codec}" for codec in codecs],
    ]
    expect(shown(page, "broken.parquet")).to_contain_text("not a valid Parquet file")


def test_a_file_is_downloaded_byte_for_byte(page, made):
    page.goto(f"/executor-jobs/{made['executor_job_id']}?stay=1")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download data.bin").click()
    assert download.value.suggested_filename == "data.bin"
    assert download.value.path().read_bytes() == DATA
    with page.expect_download() as download:
        page.get_by_role("button", name="Download cities.parquet").click()
    assert download.value.path().read_bytes() == b64decode(PARQUET)


def test_a_copied_link_needs_no_key(page, open_context, made):
    page.goto("/executions/" + made["id"])
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link to notes.txt").click()
    saw_toast(page, "Link copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    answer = open_context().request.get(link)
    assert (answer.status, answer.text()) == (200, "<b>plain</b> text\n")


def test_artifacts_appear_while_the_job_goes_on(page, roost):
    job = roost.submit(roost.agent(f"stores-slowly-{uuid4()}", SLOW))
    until("the first file", lambda: roost.get(f"/executor-jobs/{job['id']}/files")["data"])
    page.goto("/executions/" + roost.started(job)["id"])
    expect(files(page).locator(".name")).to_have_text(["first.txt"])
    roost.post(f"/executor-jobs/{job['id']}/events", {"name": "go"})
    page.goto("/executions/" + roost.ended(job)["id"])
    expect(files(page).locator(".name")).to_have_text(["first.txt", "second.txt"])


def test_files_are_uploaded_and_the_script_reads_them(page, roost, reader):
    page.goto("/agents/" + reader["id"])
    chosen = [
        {"name": "data.bin", "mimeType": "application/octet-stream", "buffer": DATA},
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"notes"},
    ]
    with page.expect_file_chooser() as chooser:
        press(page, "Add files")
    chooser.value.set_files(chosen)
    page.get_by_label("Name of notes.txt").fill("the notes")
    press(page, "Run")
    digest = hashlib.sha256(DATA).hexdigest()
    expect(returned(page)).to_contain_text(digest, timeout=SOON)
    job = roost.get(f"/executor-jobs?agent_id={reader['id']}")["data"][0]
    expected = {
        "data.bin": f"data.bin {len(DATA)} {digest}",
        "the notes": "notes.txt 5 " + hashlib.sha256(b"notes").hexdigest(),
    }
    assert job["execution"]["return_value"] == expected
    # Another run of the same job has them, too.
    page.goto(f"/executor-jobs/{job['id']}?stay=1")
    expect(files(page)).to_contain_text("the notes")
    expect(files(page)).to_contain_text("input")
    press(page, "Run again")
    expect(page).not_to_have_url(f"{roost.url}/executor-jobs/{job['id']}?stay=1")
    expect(returned(page)).to_contain_text(digest, timeout=SOON)


def test_files_that_are_dropped_can_be_removed_and_have_names_of_their_own(page, reader):
    page.goto("/agents/" + reader["id"])
    expect(editor(page, "Payload, JSON")).to_be_visible()
    page.evaluate(DROP, ["a.csv", "a.csv", "b.csv"])
    names = page.locator("file-inputs li input")
    expect(names).to_have_count(3)
    press(page, "Run")
    expect(names.nth(1)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Another file has this name.")).to_be_visible()
    expect(names.nth(1)).to_be_focused()
    names.nth(1).fill("")
    expect(page.get_by_text("A name is required.")).to_be_visible()
    page.get_by_role("button", name="Remove a.csv").last.click()
    page.get_by_role("button", name="Remove b.csv").click()
    expect(names).to_have_count(1)
    expect(editor(page, "Payload, JSON")).not_to_contain_text("a.csv")
    press(page, "Run")
    expect(returned(page)).to_contain_text("a.csv", timeout=SOON)


DROP = """(names) => {
  const data = new DataTransfer();
  names.forEach((name) => data.items.add(new File([name], name)));
  const options = { dataTransfer: data, bubbles: true, composed: true, cancelable: true };
  const target = document.querySelector("run-panel code-editor");
  target.dispatchEvent(new DragEvent("dragover", options));
  target.dispatchEvent(new DragEvent("drop", options));
}"""


def test_a_refused_upload_is_explained_at_the_file(page, reader):
    refusal = {"status": 413, "code": "too_large", "title": "Too large", "detail": "A file can have 1 byte."}
    page.route("**/v1/files/*/parts/0", lambda route: route.fulfill(status=413, body=json.dumps(refusal)))
    page.goto("/agents/" + reader["id"])
    file = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"a,b"}
    page.locator("file-inputs input[type=file]").set_input_files([file])
    expect(page.locator("file-inputs li")).to_contain_text("A file can have 1 byte.")
    page.unroute_all()
    press(page, "Try again")
    expect(page.locator("file-inputs li")).not_to_contain_text("A file can have 1 byte.")
    press(page, "Run")
    expect(returned(page)).to_contain_text("a.csv", timeout=SOON)


def test_the_files_of_a_job_are_tried_with_an_edited_script(page, roost, reader):
    file = roost.post("/files", {"name": "empty.csv"})
    roost.post(f"/files/{file['id']}/complete", {"size_bytes": 0})
    job = roost.post(f"/agents/{reader['id']}/execute", {"files": {"table": file["id"]}})
    execution = roost.ended(job)
    page.goto("/executions/" + execution["id"])
    page.get_by_role("link", name="Try an edited script").click()
    expect(page.get_by_label("Name of empty.csv")).to_have_value("table")
    write(page, "Script", READER.replace("return {", "return {'draft': True} | {"))
    page.get_by_role("button", name="Run draft").click()
    expect(returned(page)).to_contain_text("empty.csv", timeout=SOON)


def test_a_key_that_may_only_read_downloads_and_uploads_nothing(sign_in, roost, made, reader):
    key = Roost(roost.url, roost.post("/keys", {"name": "reads files", "role": "read"})["key"])
    page = sign_in(by=key)
    page.goto("/executions/" + made["id"])
    expect(shown(page, "notes.txt").get_by_role("group")).to_have_text("<b>plain</b> text\n")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download notes.txt").click()
    assert download.value.path().read_bytes() == b"<b>plain</b> text\n"
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)
    page.goto("/agents/" + reader["id"])
    expect(page.get_by_text("Your API key is read-only.").first).to_be_visible()
    expect(page.get_by_role("button", name="Add files")).to_have_count(0)
