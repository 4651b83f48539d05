"""What keeps a Roost in order: keys, webhooks, settings, revisions, whole stores."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from hands import SOON, credentials, preloaded, press, returned, row, saw_toast
from playwright.sync_api import expect
from roost_client import until

AGENT = "def main(request):\n    return request.payload\n"


class Receiver:
    """A program that gets deliveries, and answers with `status` while `answers` is set."""

    def __init__(self) -> None:
        self.status = 200
        self.answers = threading.Event()
        self.answers.set()
        self.received: list[dict] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append(json.loads(body))
                receiver.answers.wait()
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.answers.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


def dialog(page):
    return page.get_by_role("dialog").last


def test_a_key_is_shown_once_signs_in_and_ends_with_its_sessions(page, open_context, roost):
    page.goto("/keys")
    press(page, "New key")
    press(page, "Create key")
    expect(dialog(page).get_by_label("Name")).to_be_focused()  # It is required.
    dialog(page).get_by_label("Name").fill("a journey's")
    dialog(page).get_by_label("Role").select_option("read")
    press(page, "Create key")
    expect(dialog(page)).to_contain_text("shown only once")
    key = dialog(page).locator(".secret code").inner_text()
    press(page, "Done")
    other = open_context().new_page()
    other.goto("/")
    other.get_by_label("API key").fill(key)
    press(other, "Sign in")
    expect(other.get_by_role("heading", name="Overview")).to_be_visible()
    assert key not in page.content()
    session = credentials(other)
    assert httpx.get(roost.url + "/v1/session", headers=session).status_code == 200
    row(page, "a journey's").get_by_role("button", name="Delete").click()
    press(page, "Delete key")
    expect(row(page, "a journey's")).to_have_count(0)
    until("the end of the session", lambda: httpx.get(roost.url + "/v1/session", headers=session).status_code == 401)
    other.goto("/agents")
    expect(other.get_by_label("API key")).to_be_visible()


def test_a_webhook_is_created_tested_and_a_failed_delivery_is_explained(page, roost, agent, receiver):
    page.goto("/webhooks")
    press(page, "New webhook")
    dialog(page).get_by_label("URL").fill("ftp://example.org/")
    press(page, "Create webhook")
    expect(dialog(page).locator("#webhook-url-mistakes")).not_to_be_empty()
    dialog(page).get_by_label("URL").fill(receiver.url)
    dialog(page).get_by_label("Events").fill("execution.succeeded")
    press(page, "Create webhook")
    expect(dialog(page)).to_contain_text("The webhook's secret")
    press(page, "Done")
    expect(page.get_by_role("heading", level=1)).to_have_text(receiver.url)
    press(page, "Send test")
    saw_toast(page, "Test delivered: status 200.")
    receiver.status = 500
    press(page, "Send test")
    expect(dialog(page)).to_contain_text("the receiver responded with 500")
    press(page, "Close")
    receiver.status = 200
    receiver.answers.clear()
    execution = roost.run(agent, "told")
    expect(row(page, "execution.succeeded")).to_contain_text("pending")
    receiver.answers.set()  # No event tells the page of the result.
    delivered = row(page, "execution.succeeded").filter(has_text="200")
    expect(delivered).to_contain_text("succeeded")
    assert execution["id"] in [event["subject"] for event in receiver.received]
    delivered.get_by_role("button", name="Show").click()
    expect(dialog(page)).to_contain_text(execution["id"])
    press(page, "Close")
    press(page, "Disable")
    expect(page.get_by_text("This webhook is disabled")).to_be_visible()
    press(page, "Delete")
    press(page, "Delete webhook")
    expect(page).to_have_url("/webhooks")
    expect(row(page, receiver.url)).to_have_count(0)


def test_a_channel_is_created_with_a_quiet_time_tested_and_an_error_is_explained(page, roost, receiver):
    page.goto("/notifications")
    expect(page.get_by_text("A channel tells your team")).to_be_visible()
    press(page, "New channel")
    dialog(page).get_by_label("Name").fill("On-call")
    dialog(page).get_by_label("Send by").select_option("email")
    dialog(page).get_by_label("Recipients").fill("team@example.org")
    press(page, "Create channel")
    expect(dialog(page).locator("#channel-kind-mistakes")).to_contain_text("roost.mail.host")
    dialog(page).get_by_label("Send by").select_option("slack")
    dialog(page).get_by_label("Webhook URL").fill(receiver.url + "/hush-hush")
    dialog(page).get_by_label("Build failed").uncheck()
    press(page, "+ Add quiet time")
    dialog(page).get_by_label("Sunday").uncheck()
    dialog(page).get_by_label("Quiet time 1, from").fill("21:30")
    dialog(page).get_by_label("Time zone").fill("Europe/Berlin")
    press(page, "Create channel")
    expect(page.get_by_role("heading", level=1)).to_have_text("On-call")
    expect(page.locator("main")).to_contain_text("Mo Tu We Th Fr Sa 21:30–07:00 (Europe/Berlin)")
    expect(page.locator("main")).not_to_contain_text("hush-hush")
    press(page, "Send test")
    saw_toast(page, "Test sent.")
    assert "On-call" in receiver.received[-1]["text"] or "Messages of this channel" in receiver.received[-1]["text"]
    receiver.status = 500
    press(page, "Send test")
    saw_toast(page, "The test was not sent: the receiver responded with 500.")
    expect(page.get_by_text("The latest message had a problem")).to_be_visible()
    press(page, "Edit")
    expect(dialog(page).get_by_label("Quiet time 1, from")).to_have_value("21:30")
    press(page, "Remove quiet time 1")
    press(page, "Save")
    expect(page.locator("main")).not_to_contain_text("21:30")
    press(page, "Disable")
    expect(page.get_by_text("This channel is disabled")).to_be_visible()
    press(page, "Delete")
    press(page, "Delete channel")
    expect(page).to_have_url("/notifications")
    expect(row(page, "On-call")).to_have_count(0)


def test_a_revision_is_compared_and_rolled_back_to(page, roost, agent):
    roost.call("PATCH", f"/agents/{agent['id']}", {"script": AGENT.replace("request.payload", "'worse'")})
    page.goto(f"/agents/{agent['id']}/revisions")
    expect(page.get_by_role("heading", name="Revision 2")).to_be_visible()
    changes = page.locator("code-diff")
    expect(changes).to_contain_text("return request.payload")
    expect(changes).to_contain_text("return 'worse'")
    press(page, "Roll back to revision 1")
    expect(dialog(page)).to_contain_text("with the script of revision 1")
    dialog(page).get_by_role("button", name="Roll back").click()
    saw_toast(page, "Rolled back to revision 1 as revision 3.")
    expect(page.get_by_role("heading", name="Revision 3")).to_be_visible()
    changed = roost.get("/agents/" + agent["id"])
    assert (changed["revision"], changed["script"]) == (3, AGENT)


def test_what_a_script_may_connect_to_is_chosen_where_that_can_be_enforced(page, roost, agent):
    page.goto(f"/agents/{agent['id']}/settings")
    choice = page.get_by_label("Egress")
    expect(page.get_by_label("Isolation")).to_be_visible()
    scope = roost.get("/runtime")["egress"]
    if scope == "all":
        expect(choice).to_have_count(0)
        return
    choice.select_option("Nothing")
    press(page, "Save settings")
    saw_toast(page, "Settings saved.")
    assert roost.get("/agents/" + agent["id"])["egress"] == "none"
    facts = page.get_by_role("list", name="Agent details")
    expect(facts).to_contain_text("egress: none")
    page.goto(f"/agents/{agent['id']}/revisions")
    expect(page.get_by_role("heading", name="Egress")).to_be_visible()
    if scope == "none":
        return
    page.goto(f"/agents/{agent['id']}/settings")
    choice.select_option("Only these destinations")
    page.get_by_label("Destinations").fill("192.0.2.7:443\nexample.org:443")
    press(page, "Save settings")
    expect(page.locator("#egress-destinations-mistakes")).to_contain_text("example.org:443")
    page.get_by_label("Destinations").fill("192.0.2.7:443\n192.0.2.0/24:5432")
    press(page, "Save settings")
    expect(facts).to_contain_text("egress: 2 destinations")
    assert roost.get("/agents/" + agent["id"])["egress"] == "192.0.2.7:443\n192.0.2.0/24:5432"


PRELOADED = {
    "revision": 1,
    "modules": 612,
    "packages": ["numpy", "pandas"],
    "import_seconds": 0.231,
    "memory_bytes": 48_123_904,
    "left_out": [{"module": "grpc._cython", "reason": "starts a thread"}],
    "updated_at": "2026-01-14T12:00:00.000000Z",
}


def test_preloaded_imports_are_shown_and_can_be_turned_off(page, roost, agent):
    preloaded(page, agent, PRELOADED)
    page.goto(f"/agents/{agent['id']}")
    page.get_by_role("list", name="Agent details").get_by_role("link", name="612 modules preloaded").click()
    expect(page).to_have_url(f"/agents/{agent['id']}/builds")
    section = page.get_by_role("region", name="Preloaded imports")
    expect(section).to_contain_text("Each execution saves about 231 ms.")
    expect(section).to_contain_text("45.9 MiB of memory")
    expect(section).to_contain_text("numpy, pandas")
    expect(row(page, "grpc._cython")).to_contain_text("starts a thread")

    page.unroute_all()
    page.goto(f"/agents/{agent['id']}/builds")
    expect(section).to_contain_text("Known after the first execution of revision 1.")
    section.get_by_role("link", name="Change setting").click()
    page.get_by_label("Preloaded imports").select_option("Off")
    press(page, "Save settings")
    saw_toast(page, "Settings saved.")
    changed = roost.get("/agents/" + agent["id"])
    assert (changed["preload"], changed["revision"]) == ("off", 2)
    page.goto(f"/agents/{agent['id']}/builds")
    expect(section).to_contain_text("Preloading is off")
    page.goto(f"/agents/{agent['id']}/revisions")
    expect(page.get_by_role("heading", name="Preloading")).to_be_visible()
    expect(page.get_by_text("auto → off")).to_be_visible()


def test_a_profile_that_is_gone_is_reported_at_its_field(page, roost, agent):
    runtime = roost.get("/runtime")
    page.route("**/v1/runtime", lambda route: route.fulfill(json={**runtime, "profiles": ["gone"]}))
    page.goto(f"/agents/{agent['id']}/settings")
    page.get_by_label("Profile", exact=True).select_option("gone")
    press(page, "Save settings")
    expect(page.locator("#profile-mistakes")).to_contain_text("profile")
    page.get_by_label("Profile", exact=True).select_option("Default")
    expect(page.get_by_role("button", name="Save settings")).to_be_disabled()
    page.unroute_all()
    page.reload()
    expect(page.get_by_label("Isolation")).to_be_visible()
    expect(page.get_by_label("Profile", exact=True)).to_have_count(len(runtime["profiles"]) and 1)


def test_a_setting_that_cannot_be_is_reported_at_its_field_and_a_draft_is_kept(page, roost, agent):
    page.goto(f"/agents/{agent['id']}/settings")
    page.get_by_label("Memory (MiB)").fill("lots")
    page.get_by_label("Timeout (seconds)").fill("90")
    press(page, "Save settings")
    expect(page.locator("#memory-mistakes")).not_to_be_empty()
    expect(page.get_by_label("Memory (MiB)")).to_be_focused()
    page.reload()
    expect(page.get_by_label("Memory (MiB)")).to_have_value("lots")
    page.get_by_label("Memory (MiB)").fill("96")
    page.get_by_label("exceeded its memory limit").check()
    press(page, "Save settings")
    saw_toast(page, "Settings saved.")
    saved = roost.get("/agents/" + agent["id"])
    assert (saved["memory"], saved["timeout"], saved["never_retry"]) == (96, 90, ["out_of_memory"])


def test_an_agent_is_offered_as_a_tool_under_a_name_of_its_own(page, roost, agent):
    other = roost.agent("other-" + agent["id"], "def main(): ...", tool_name="taken_" + agent["id"][-8:])
    page.goto(f"/agents/{agent['id']}/settings")
    tool = page.get_by_role("region", name="Tool")
    expect(tool).to_contain_text(roost.url + "/mcp")
    expect(tool.get_by_role("link")).to_have_attribute("href", "/help/mcp/")
    name = page.get_by_label("Tool name")
    expect(name).to_have_attribute("placeholder", agent["name"][:64])
    for refused, why in (("roost_mine", "reserved"), (other["tool_name"], "already has the tool name")):
        name.fill(refused)
        press(page, "Save settings")
        expect(page.locator("#tool_name-mistakes")).to_contain_text(why)
        expect(name).to_be_focused()
        expect(page.locator("agent-settings [role=alert]")).to_have_count(0)
    mine = "mine_" + agent["id"][-8:]
    name.fill(mine)
    page.get_by_label("Tool description").fill("Adds numbers.")
    press(page, "Save settings")
    saw_toast(page, "Settings saved.")
    saved = roost.get("/agents/" + agent["id"])
    assert (saved["tool_name"], saved["tool_description"], saved["revision"]) == (mine, "Adds numbers.", 1)
    page.goto(f"/agents/{agent['id']}/call-it")
    client = page.get_by_role("region", name="Model Context Protocol", exact=True)
    expect(client).to_contain_text(mine)
    expect(client).to_contain_text(f'"url": "{roost.url}/mcp"')
    page.goto(f"/agents/{agent['id']}/settings")
    name.fill("")
    press(page, "Save settings")
    saw_toast(page, "Settings saved.")
    saved = roost.get("/agents/" + agent["id"])
    assert (saved["tool_name"], saved["tool_description"]) == (None, "Adds numbers.")
    page.goto(f"/agents/{agent['id']}/call-it")
    expect(page.get_by_role("region", name="curl", exact=True)).to_be_visible()
    expect(client).to_have_count(0)
    roost.delete("/agents/" + other["id"])


def test_a_job_is_run_again_and_the_agent_is_deleted_after_a_confirmation(page, roost, agent):
    execution = roost.run(agent, {"n": 1.5})
    page.goto("/executions/" + execution["id"])
    press(page, "Run again")
    page.wait_for_url(lambda url: "/executions/" in url and not url.endswith(execution["id"]), timeout=SOON)
    again = page.url.rpartition("/")[2]
    until("the second end", lambda: roost.get("/executions/" + again)["return_value"] == {"n": 1.5})
    expect(page.get_by_text(again[-6:]).first).to_be_visible()
    expect(returned(page)).to_contain_text("1.5")
    page.goto(f"/agents/{agent['id']}/settings")
    press(page, "Delete agent")
    expect(dialog(page)).to_contain_text("Keeps 1 DataStore with all entries, and the execution history")
    dialog(page).get_by_role("button", name="Delete agent").click()
    expect(page).to_have_url("/agents")
    expect(row(page, agent["name"])).to_have_count(0)
    page.goto("/executions/" + execution["id"])
    expect(returned(page)).to_contain_text("1.5")


def test_a_store_is_filled_from_a_file_saved_and_deleted(page, roost, tmp_path):
    name = f"journey-{time.time_ns()}"
    store = roost.post("/datastore", {"name": name})
    lines = [json.dumps({"key": f"user/{n}", "value": {"n": n}}) for n in range(500)]
    file = tmp_path / "users.ndjson"
    page.goto("/stores/" + store["id"])
    press(page, "Import")
    file.write_text("\n".join([*lines[:2], "{nonsense", *lines[2:]]))
    dialog(page).get_by_label("JSON Lines file").set_input_files(file)
    dialog(page).get_by_role("button", name="Import").click()
    expect(dialog(page).get_by_role("alert")).to_contain_text("line 3")
    expect(dialog(page).get_by_role("button", name="Import")).to_be_disabled()
    expect(dialog(page)).to_contain_text("Choose the corrected file")
    file.write_text("\n".join(lines))
    dialog(page).get_by_label("JSON Lines file").set_input_files(file)
    dialog(page).get_by_role("button", name="Import").click()
    expect(dialog(page)).to_contain_text("500 entries stored")
    press(page, "Done")
    expect(row(page, "user/10").first).to_contain_text('{"n":10}')
    with page.expect_download() as download:
        press(page, "Export")
    saved = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert {entry["key"]: entry["value"]["n"] for entry in saved} == {f"user/{n}": n for n in range(500)}
    press(page, "Delete")
    confirm = dialog(page).get_by_role("button", name="Delete")
    expect(confirm).to_be_disabled()
    dialog(page).get_by_label(f"Type {name}").fill(name)
    confirm.click()
    expect(page).to_have_url("/stores")
    assert roost.get(f"/datastore?q={name}")["data"] == []
