"""Requests to the API server by client, and their frequency.

`apiserver_request_total` doesn't say who. But the API server sorts requests by FlowSchemas before it serves them, and
counts by schema. So there is a schema for each verb and resource of one service account, in the priority level that
service accounts have anyway, and the difference of its counter is exactly what that account has asked for, whatever
else happens in the cluster. Requests that can last for ever (the log of a pod) aren't sorted, only counted for all.
"""

import contextlib
import time
from collections import Counter
from collections.abc import Iterator

from roost_bench.kubernetes import Api, ApiError, Object

# What the Role of the Helm chart allows; "other" is every other request.
RIGHTS: "list[tuple[str, str, list[str]]]" = [
    ("batch", "jobs", ["create", "get", "list", "watch", "delete"]),
    ("", "pods", ["get", "list", "watch", "patch", "delete"]),
    ("", "secrets", ["create"]),
    ("", "events", ["get", "list", "watch"]),
    ("", "pods/log", ["get"]),
]
PRECEDENCE = 8000  # before the schema of all service accounts
SETTLE_SECONDS = 1.0
DISPATCHED = "apiserver_flowcontrol_dispatched_requests_total"
EVERYBODYS_LOGS = "get pods/log, of everybody"
TOTAL = "apiserver_request_total"


def schema(name: str, account: "tuple[str, str]", precedence: int, rule: Object) -> Object:
    """A FlowSchema for some requests of a service account."""
    namespace, account_name = account
    subject = {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": account_name}}
    return {
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": "FlowSchema",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "roost-bench"}},
        "spec": {
            "priorityLevelConfiguration": {"name": "workload-low"},
            "matchingPrecedence": precedence,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{"subjects": [subject], **rule}],
        },
    }


class Calls:
    """Counts the requests of a service account."""

    def __init__(self, api: Api, prefix: str) -> None:
        self.api = api
        self.names: dict[str, str] = {}
        self.prefix = prefix

    @classmethod
    @contextlib.contextmanager
    def counted(cls, api: Api, prefix: str, account: "tuple[str, str]") -> "Iterator[Calls]":
        """Makes the schemas, whose names begin with `prefix`, and removes them in the end."""
        calls = cls(api, prefix)
        try:
            for group, resource, verbs in RIGHTS:
                for verb in verbs:
                    what = {
                        "verbs": [verb],
                        "apiGroups": [group],
                        "resources": [resource],
                        "namespaces": ["*"],
                        "clusterScope": True,
                    }
                    calls._make(f"{verb} {resource}", account, PRECEDENCE, {"resourceRules": [what]})
            everything = {
                "verbs": ["*"],
                "apiGroups": ["*"],
                "resources": ["*"],
                "namespaces": ["*"],
                "clusterScope": True,
            }
            paths = {"verbs": ["*"], "nonResourceURLs": ["*"]}
            rule = {"resourceRules": [everything], "nonResourceRules": [paths]}
            calls._make("other", account, PRECEDENCE + 1, rule)
            time.sleep(SETTLE_SECONDS)
            yield calls
        finally:
            for name in calls.names:
                api.delete("FlowSchema", "", name)

    def _make(self, what: str, account: "tuple[str, str]", precedence: int, rule: Object) -> None:
        name = f"{self.prefix}-{what.replace(' ', '-').replace('/', '-')}"
        self.names[name] = what
        try:
            self.api.create(schema(name, account, precedence, rule))
        except ApiError as error:
            if error.status == 403:
                raise SystemExit("to count API calls this needs the right to make FlowSchemas (--no-calls)") from error
            raise

    def read(self) -> "Counter[str]":
        """The calls so far, by verb and resource; those of logs are everybody's."""
        counts: Counter[str] = Counter()
        for metric, labels, value in self.api.metrics():
            if metric == DISPATCHED and labels["flow_schema"] in self.names:
                counts[self.names[labels["flow_schema"]]] += int(value)
            elif metric == TOTAL and labels["resource"] == "pods" and labels["subresource"] == "log":
                counts[EVERYBODYS_LOGS] += int(value)
        return counts
