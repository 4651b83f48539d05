"""The alerts of the chart: each one is provoked, and silent without its cause. Evaluated by Prometheus' promtool."""

import json
import re
import shutil
import subprocess

import pytest
import yaml
from helm_chart import CHART

PROMTOOL = shutil.which("promtool")
RUNBOOKS = CHART.parents[1] / "docs/runbooks.md"
METRICS = CHART.parents[1] / "docs/metrics.md"
RULES = yaml.safe_load((CHART / "files/alerts.yaml").read_text(encoding="utf-8"))["groups"][0]["rules"]
ALERTS = {rule["alert"]: rule for rule in RULES}

QUEUE = 'roost_executor_jobs_oldest_age_seconds{namespace="a", pod="%s", waiting_on="executor"}'
CLAIM = 'roost_last_claim_timestamp_seconds{namespace="a", pod="%s"}'
WORKING = 'roost_executors{namespace="a", pod="%s", state="working"}'
LIMIT = 'roost_executors_limit{namespace="a", pod="%s"}'
FULL = 'roost_storage_full{namespace="a", pod="%s"}'
LOST = 'roost_executions_total{namespace="a", pod="one", state="lost", reason="executor_lost"}'
BUILDS = 'roost_builds_total{namespace="a", pod="one", state="%s", reason="%s"}'
USED = 'roost_storage_used_bytes{namespace="a", pod="one", area="logs"}'
AREA_LIMIT = 'roost_storage_limit_bytes{namespace="a", pod="one", area="logs"}'
FREE = 'roost_storage_disk_free_bytes{namespace="a", pod="one"}'
RESERVE = 'roost_storage_disk_reserve_bytes{namespace="a", pod="one"}'
REFUSED = 'roost_requests_rejected_total{namespace="a", pod="one", code="%s"}'
LOOP = 'roost_loop_lag_seconds{namespace="a", pod="one", loop="%s"}'
LEADER = 'roost_leader{namespace="a", pod="%s"}'


def queue(age, claimed="0x60", working="2x60", limit="4x60", full="0x60"):
    """Of two replicas, which show the same of the database; the second one has claimed nothing since it started."""
    both = {QUEUE: age, WORKING: working, LIMIT: limit, FULL: full}
    return {
        **{name % pod: values for name, values in both.items() for pod in ("one", "two")},
        CLAIM % "one": claimed,
        CLAIM % "two": "0x60",
    }


# What provokes each alert within its time, and, one after the other, what doesn't. Values as promtool writes them, one for
# each minute: "1x60" is 1 for an hour, "0+5x60" grows by 5 each minute.
LAST = "0+60x60"
CASES = {
    "RoostMissing": ({"up": "1x60"}, [{LEADER % "one": "0x60"}]),
    "RoostNoLeader": (
        {LEADER % "one": "0x60", LEADER % "two": "0x60"},
        [{LEADER % "one": "0x60", LEADER % "two": "1x60"}],
    ),
    "RoostDatabaseUnreachable": (
        {'roost_database_reachable{namespace="a", pod="one"}': "0x60"},
        [{'roost_database_reachable{namespace="a", pod="one"}': "1x60"}],
    ),
    "RoostDatabasePoolExhausted": (
        {'agroal_awaiting_count{namespace="a", pod="one"}': "3x60"},
        [{'agroal_awaiting_count{namespace="a", pod="one"}': "0 3 0 3 0 0x60"}],
    ),
    "RoostLoopLate": (
        {LOOP % "executor-reconciler": "0+60x60"},
        [{LOOP % "executor-reconciler": "5x60"}, {LOOP % "retention": "0+60x60"}],
    ),
    "RoostNoClaims": (
        queue("0+60x60"),
        [
            queue("0+60x60", claimed=LAST),
            queue("30x60"),
            queue("0+60x60", working="4x60"),
            queue("0+60x60", full="1x60"),
        ],
    ),
    "RoostQueueOld": (queue("0+60x60", claimed=LAST), [queue("500x60", claimed=LAST)]),
    "RoostExecutionsLost": ({LOST: "0x10 0+1x50"}, [{LOST: "0x30 1x30"}]),
    "RoostBuildsFail": (
        {BUILDS % ("failed", "registry_unreachable"): "0+1x60", BUILDS % ("succeeded", "none"): "7x60"},
        [
            {BUILDS % ("failed", "requirement_not_found"): "0+1x60", BUILDS % ("succeeded", "none"): "0x30 1x30"},
            {BUILDS % ("failed", "registry_unreachable"): "0x40 1x20", BUILDS % ("succeeded", "none"): "7x60"},
        ],
    ),
    "RoostStorageFull": ({FULL % "one": "1x60"}, [{FULL % "one": "0x60"}]),
    "RoostStorageNearlyFull": (
        {USED: "90x60", AREA_LIMIT: "100x60"},
        [
            {USED: "80x60", AREA_LIMIT: "100x60"},
            {USED: "90x60", AREA_LIMIT: " ".join(["Inf"] * 61)},
            {FREE: "300x60", RESERVE: "100x60"},
            {FREE: " ".join(["NaN"] * 61), RESERVE: "100x60"},
        ],
    ),
    "RoostSchedulesLate": (
        {'roost_schedules_oldest_age_seconds{namespace="a", pod="one"}': "0+60x60"},
        [{'roost_schedules_oldest_age_seconds{namespace="a", pod="one"}': "1x60"}],
    ),
    "RoostWebhooksBehind": (
        {'roost_webhook_deliveries_oldest_age_seconds{namespace="a", pod="one"}': "4000x60"},
        [{'roost_webhook_deliveries_oldest_age_seconds{namespace="a", pod="one"}': "3000x60"}],
    ),
    "RoostRequestsRefused": ({REFUSED % "overloaded": "0+20x60"}, [{REFUSED % "not_found": "0+900x60"}]),
}


def test_each_alert_has_a_case_and_a_runbook():
    assert set(CASES) == set(ALERTS)
    text = RUNBOOKS.read_text(encoding="utf-8")
    sections = re.findall(r"(?m)^## (.+)$", text)
    assert sections == list(ALERTS), "a section for each alert, in their order"
    for name, rule in ALERTS.items():
        assert rule["annotations"]["runbook"] == f"docs/runbooks.md#{name.lower()}"
        assert rule["labels"]["severity"] in ("critical", "warning")


def metrics_of(expression):
    """The names of metrics in an expression."""
    return set(re.findall(r"\b(?:roost|agroal|jvm|process)_[a-z0-9_]+", expression))


def documented(metric):
    listed = METRICS.read_text(encoding="utf-8")
    family = re.sub(r"_(bucket|count|sum|max)$", "", metric)
    return any(f"`{name}`" in listed for name in (metric, family)) or f"`{metric.split('_')[0]}_*`" in listed


def test_alerts_and_dashboard_use_metrics_that_exist():
    dashboard = json.loads((CHART / "files/dashboard.json").read_text(encoding="utf-8"))
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    used = set().union(*map(metrics_of, [rule["expr"] for rule in RULES] + shown))
    assert len(used) > 25
    assert sorted(metric for metric in used if not documented(metric)) == []


@pytest.mark.skipif(PROMTOOL is None, reason="there is no promtool")
@pytest.mark.parametrize("alert", CASES)
def test_each_alert_is_provoked_by_its_cause_alone(alert, tmp_path):
    provoking, *quiet = [CASES[alert][0], *CASES[alert][1]]
    tests = [case(alert, provoking, True), *[case(alert, series, False) for series in quiet]]
    # Before their time none has fired.
    if "for" in ALERTS[alert]:
        tests.append({**case(alert, provoking, False), "alert_rule_test": [asked(alert, "0m", False)]})
    shutil.copy(CHART / "files/alerts.yaml", tmp_path)
    document = tmp_path / "test.yaml"
    document.write_text(json.dumps({"rule_files": ["alerts.yaml"], "tests": tests}), encoding="utf-8")
    command = [PROMTOOL, "test", "rules", document]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def case(alert, series, fires):
    """One test of promtool: these series for an hour."""
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [asked(alert, "45m", fires)],
    }


def asked(alert, time, fires):
    """promtool compares labels and annotations: those of the rule, with what its expression keeps."""
    expected = {"exp_labels": {**ALERTS[alert]["labels"], **LABELS.get(alert, {"namespace": "a"})}}
    expected["exp_annotations"] = {**ALERTS[alert]["annotations"], **SUMMARIES.get(alert, {})}
    return {"eval_time": time, "alertname": alert, "exp_alerts": [expected] if fires else []}


LABELS = {
    "RoostMissing": {},
    "RoostDatabasePoolExhausted": {"namespace": "a", "pod": "one"},
    "RoostLoopLate": {"namespace": "a", "loop": "executor-reconciler"},
    "RoostStorageNearlyFull": {"namespace": "a", "area": "logs"},
}
# With the value after 45 minutes.
SUMMARIES = {
    alert: {"summary": summary}
    for alert, summary in {
        "RoostLoopLate": "The loop executor-reconciler has been late for 45m 0s.",
        "RoostQueueOld": "A job has waited for an executor for 45m 0s.",
        "RoostExecutionsLost": "Executors ended under 15 executions within a quarter of an hour.",
        "RoostSchedulesLate": "A schedule has been due for 45m 0s and has not run.",
        "RoostWebhooksBehind": "A delivery to a webhook is 1h 6m 40s old.",
    }.items()
}
