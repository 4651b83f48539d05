"""Every page of the dashboard, and when it has shown what it has to show."""

from estate import Estate
from hands import wait_until
from playwright.sync_api import Page, expect

AGENT_TABS = ("executions", "schedules", "stores", "builds", "revisions", "settings", "call-it")

# Those that the documentation shows: /agents/{id}/settings is "agent-settings", and so on.
NAMES = (
    *("overview", "agents", "create", "agent", "agent-failing", "agent-unbuildable", "agent-long"),
    *(f"agent-{tab}" for tab in AGENT_TABS),
    *("executions", "execution", "execution-failed", "execution-running", "executor-job"),
    *(
        "search",
        "approvals",
        "approval",
        "issues",
        "issue",
        "builds",
        "build",
        "build-failed",
        "rollouts",
        "rollout",
        "schedules",
        "stores",
        "store",
        "webhooks",
        "webhook",
        "notifications",
        "notification-channel",
        "keys",
        "settings",
    ),
    *("missing", "missing-agent", "approve"),
)


def address(name: str, estate: Estate) -> str:
    """Where the page of that name is."""
    first, _, rest = name.partition("-")
    report = f"/agents/{estate.report['id']}"
    addresses = {
        "overview": "/",
        "agent": report,
        "agent-failing": f"/agents/{estate.failing['id']}",
        "agent-unbuildable": f"/agents/{estate.unbuildable['id']}",
        "agent-long": f"/agents/{estate.long['id']}",
        "execution": f"/executions/{estate.succeeded['id']}",
        "execution-failed": f"/executions/{estate.failed['id']}",
        "execution-running": f"/executions/{estate.running['id']}",
        "executor-job": f"/executor-jobs/{estate.failed['executor_job_id']}?stay=1",
        "approval": f"/approvals/{estate.approval['id']}",
        "approve": estate.approval_link["url"],
        "issue": f"/issues/{estate.issue['id']}",
        "build": f"/builds/{estate.build['id']}",
        "build-failed": f"/builds/{estate.failed_build['id']}",
        "rollout": f"/rollouts/{estate.rollout['id']}",
        "store": f"/stores/{estate.store['id']}",
        "webhook": f"/webhooks/{estate.webhook['id']}",
        "notification-channel": f"/notifications/{estate.channel['id']}",
        "missing": "/stores/nothing/here",
        "missing-agent": "/agents/agent_00000000000000000000000000",
    }
    return addresses.get(name) or (f"{report}/{rest}" if first == "agent" and rest else f"/{name}")


def settled(page: Page) -> None:
    """Returns when nothing is loading any more."""
    expect(page.locator("main").first).to_be_visible()
    expect(page.locator("main [aria-busy=true], roost-app > [aria-busy=true]")).to_have_count(0)
    wait_until(page, EDITORS_READY)
    page.evaluate("document.fonts.ready")
    wait_until(page, QUIET)


# Editors and logs have their code loaded when they are seen for the first time.
EDITORS_READY = """() => [...document.querySelectorAll("main code-editor")].every(
    (editor) => editor.checkVisibility() === false || editor.shadowRoot?.querySelector(".cm-content"))"""

# Half a second without a change of the document. What counts up (time that passes) is no change.
QUIET = """() => {
  const now = performance.now();
  if (!window.quiet) {
    window.quiet = { since: now };
    new MutationObserver((changes) => {
      if (changes.some(({ type }) => type === "childList")) window.quiet.since = performance.now();
    }).observe(document.body, { childList: true, subtree: true });
  }
  return now - window.quiet.since > 500;
}"""
