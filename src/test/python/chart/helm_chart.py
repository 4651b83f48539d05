"""Renders the Helm chart."""

import functools
import json
import shutil
import subprocess
from pathlib import Path

import yaml

CHART = Path(__file__).resolve().parents[4] / "k8s" / "roost"
HELM = shutil.which("helm")
IMAGES = {"prefix": "registry.example.org/roost"}

# Everything from the chart.
TRIAL = {"images": IMAGES, "postgresql": {"enabled": True}, "registry": {"enabled": True}}

# Database and registry of the operator's, nothing optional.
SMALL = {
    "images": IMAGES,
    "database": {"existingSecret": "database"},
    "registry": {"repository": "registry.example.org/agents"},
}

# Whatever can be switched on, and names as long as they get.
LARGE = {
    "fullnameOverride": "r" * 40,
    "images": {**IMAGES, "controlPlane": "registry.example.org/other/control-plane@sha256:" + "0" * 64},
    "imagePullSecrets": ["pull"],
    "replicas": 3,
    "settings": {"roost.builds.concurrency": 4, "roost.limits.payload-bytes": 10485760},
    "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy.example.org"}],
    "apiKey": {"existingSecret": "key"},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "roost", "operator": "Exists"}],
    "priorityClassName": "high",
    "ingress": {"enabled": True, "host": "roost.example.org", "tlsSecret": "tls"},
    "postgresql": {"enabled": True, "persistence": {"enabled": False}},
    "backup": {"enabled": True},
    "registry": {"enabled": True, "persistence": {"enabled": False}},
    "agents": {
        "namespace": "a" * 63,
        "createNamespace": False,
        "imagePullSecrets": ["pull"],
        "nodeSelector": {"example.org/agents": "yes"},
        "tolerations": [{"key": "agents", "operator": "Exists"}],
        "prePull": {"enabled": True, "images": ["registry.example.org/python:3.13-slim"]},
        "profiles": {
            "gvisor": {
                "runtimeClassName": "gvisor",
                "hostUsers": False,
                "seccompProfile": {"type": "Localhost", "localhostProfile": "profiles/roost.json"},
                "nodeSelector": {"sandbox": "gvisor"},
                "tolerations": [{"key": "gvisor", "operator": "Exists"}],
            },
            "gpu": {
                "extendedResources": {"nvidia.com/gpu": 1},
                "priorityClassName": "batch",
                "ephemeralStorage": {"requestMib": 1024, "limitMib": 8192},
                "cpuLimit": 4,
                "maxMemoryMib": 65536,
                "maxCpu": 8,
            },
        },
        "resourceQuota": {"limits.memory": "64Gi"},
        "limitRange": [{"type": "Container", "max": {"memory": "8Gi"}}],
    },
    "metrics": {
        "enabled": True,
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "rules": {"enabled": True, "labels": {"release": "prometheus"}},
        "dashboard": {"enabled": True},
    },
    "networkPolicy": {
        "buildersEgress": [{"to": [{"ipBlock": {"cidr": "10.0.0.7/32"}}]}],
        "agentsEgress": [
            {
                "to": [{"ipBlock": {"cidr": "10.20.0.7/32"}}, {"ipBlock": {"cidr": "fd00::/64"}}],
                "ports": [{"port": 443}, {"port": 8443, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}],
            },
            {"to": [{"ipBlock": {"cidr": "10.30.0.0/16"}}]},
            # What the control plane can't say of an agent's egress is for agents without limits only.
            {"to": [{"ipBlock": {"cidr": "10.40.0.0/16", "except": ["10.40.1.0/24"]}}]},
            {"to": [{"podSelector": {"matchLabels": {"app": "proxy"}}}], "ports": [{"port": "http"}]},
            {"to": [{"ipBlock": {"cidr": "10.50.0.0/16"}}], "ports": [{"port": 1, "endPort": 9}]},
        ],
    },
}
COMBINATIONS = {"trial": TRIAL, "small": SMALL, "large": LARGE}


def run(command, values, release="roost", namespace="roost"):
    """`helm` on the chart with these values; JSON is YAML too."""
    arguments = [HELM, command, *([release] if command == "template" else []), CHART, "--values", "-"]
    if command == "template":
        arguments += ["--namespace", namespace, "--kube-version", "1.27.0"]
    return subprocess.run(arguments, input=json.dumps(values), capture_output=True, text=True, check=False, timeout=60)


@functools.cache
def _objects(values, release, namespace):
    rendered = run("template", json.loads(values), release, namespace)
    assert rendered.returncode == 0, rendered.stderr
    return [each for each in yaml.safe_load_all(rendered.stdout) if each]


class Rendered(list):
    """The objects of a release."""

    def of(self, kind, name=None):
        return [each for each in self if each["kind"] == kind and name in (None, each["metadata"]["name"])]

    def one(self, kind, name=None):
        (found,) = self.of(kind, name)
        return found

    def pods(self):
        """Name and pod specification of all that becomes a pod."""
        for each in self:
            if each["kind"] == "Pod":
                yield each["metadata"]["name"], each["metadata"], each["spec"]
            elif each["kind"] == "CronJob":
                template = each["spec"]["jobTemplate"]["spec"]["template"]
                yield each["metadata"]["name"], template["metadata"], template["spec"]
            elif "template" in each.get("spec", {}):
                yield each["metadata"]["name"], each["spec"]["template"]["metadata"], each["spec"]["template"]["spec"]

    def settings(self):
        (text,) = [
            each["data"]["application.properties"]
            for each in self.of("ConfigMap")
            if "application.properties" in each["data"]
        ]
        return dict(line.split("=", 1) for line in text.splitlines())


def render(values, release="roost", namespace="roost"):
    return Rendered(_objects(json.dumps(values, sort_keys=True), release, namespace))


def refusal(values):
    """What helm says against values that the chart must not take."""
    refused = run("template", values)
    assert refused.returncode != 0, "helm took the values"
    return refused.stderr
