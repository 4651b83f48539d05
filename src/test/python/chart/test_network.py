"""Who may talk to whom, as the network policies say it."""

import ipaddress

import pytest
from helm_chart import HELM, LARGE, SMALL, TRIAL, render

pytestmark = pytest.mark.skipif(HELM is None, reason="there is no helm")

CONTROL_PLANE = {
    "app.kubernetes.io/name": "roost",
    "app.kubernetes.io/instance": "roost",
    "app.kubernetes.io/component": "control-plane",
}
EXECUTOR = {
    "app.kubernetes.io/managed-by": "roost",
    "app.kubernetes.io/instance": "roost",
    "app.kubernetes.io/component": "executor",
}
BUILDER = {**EXECUTOR, "app.kubernetes.io/component": "builder"}


def in_namespace(namespace, labels):
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "podSelector": {"matchLabels": labels},
    }


def policy(objects, name):
    return objects.one("NetworkPolicy", name)["spec"]


def test_nobody_reaches_a_pod_of_the_agents():
    spec = policy(render(SMALL), "roost-agents")
    assert spec["podSelector"] == {} and spec["ingress"] == []
    (dns,) = spec["egress"]
    assert {port["port"] for port in dns["ports"]} == {53}
    assert spec["policyTypes"] == ["Ingress", "Egress"]


@pytest.mark.parametrize(
    ("address", "reached"),
    [
        ("151.101.0.223", True),
        ("2a04:4e42::223", True),
        ("10.96.0.1", False),
        ("172.20.3.4", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("fd00:ec2::254", False),
        ("fe80::1", False),
        ("0.0.0.0", False),
        ("100.100.100.200", False),
        ("168.63.129.16", False),
        ("192.0.0.192", False),
        ("192.0.2.1", False),
        ("192.88.99.1", False),
        ("198.18.0.1", False),
        ("198.19.255.255", False),
        ("198.51.100.1", False),
        ("203.0.113.1", False),
        ("239.255.255.250", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("::127.0.0.1", False),
        ("::ffff:169.254.169.254", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b:1::a00:1", False),
        ("100::1", False),
        ("100:0:0:1::1", False),
        ("2001::1", False),
        ("2001:db8::1", False),
        ("2002:a00:1::1", False),
        ("3fff::1", False),
        ("5f00::1", False),
        ("fec0::1", False),
        ("ff02::1", False),
        ("168.63.129.17", True),
        ("192.0.1.1", True),
        ("198.20.0.1", True),
        ("2606:4700:4700::1111", True),
        ("2001:4860:4860::8888", True),
    ],
)
def test_agents_reach_the_internet_but_no_private_address(address, reached):
    address = ipaddress.ip_address(address)
    blocks = [peer["ipBlock"] for rule in policy(render(SMALL), "roost-internet")["egress"] for peer in rule["to"]]
    assert reached == any(
        address in ipaddress.ip_network(block["cidr"])
        and not any(address in ipaddress.ip_network(network) for network in block["except"])
        for block in blocks
    )


def test_what_python_calls_private_is_not_reached():
    """Python's list is made from the same registries; a block that is added there is missed here."""
    excepted = [
        ipaddress.ip_network(network)
        for rule in policy(render(SMALL), "roost-internet")["egress"]
        for peer in rule["to"]
        for network in peer["ipBlock"]["except"]
    ]
    constants = (ipaddress._IPv4Constants, ipaddress._IPv6Constants)
    for private in (network for each in constants for network in each._private_networks):
        assert any(private.version == one.version and private.subnet_of(one) for one in excepted), private


def test_exceptions_are_of_the_family_of_their_block():
    for rule in policy(render(SMALL), "roost-internet")["egress"]:
        for peer in rule["to"]:
            block = ipaddress.ip_network(peer["ipBlock"]["cidr"])
            assert all(ipaddress.ip_network(network).subnet_of(block) for network in peer["ipBlock"]["except"])


def test_the_internet_can_be_closed():
    closed = {**SMALL, "networkPolicy": {"internet": {"enabled": False}}}
    assert not render(closed).of("NetworkPolicy", "roost-internet")
    private = {"to": [{"ipBlock": {"cidr": "10.20.0.7/32"}}], "ports": [{"port": 443}]}
    closed["networkPolicy"]["agentsEgress"] = [private]
    assert policy(render(closed), "roost-internet")["egress"] == [private]


def test_pods_of_agents_that_limit_their_egress_are_not_let_to_the_internet():
    """The control plane labels them, and makes a policy of their own for each."""
    limited = {"key": "roost/egress", "operator": "NotIn", "values": ["limited"]}
    for values in (SMALL, LARGE):
        policies = render(values).of("NetworkPolicy")
        (internet,) = [each["spec"] for each in policies if each["metadata"]["name"].endswith("-internet")]
        assert internet["podSelector"] == {"matchExpressions": [limited]}
        assert internet["policyTypes"] == ["Egress"]
        elsewhere = [peer for each in policies for rule in each["spec"].get("egress", []) for peer in rule["to"]]
        internet_blocks = [peer for rule in internet["egress"] for peer in rule["to"]]
        assert all(
            peer in internet_blocks or peer.get("ipBlock", {}).get("cidr") in (None, "169.254.20.10/32", "10.0.0.7/32")
            for peer in elsewhere
        )


def test_executors_reach_the_internal_port_and_nobody_else_does():
    objects = render(TRIAL)
    out = policy(objects, "roost-executors")
    assert out["podSelector"]["matchLabels"] == EXECUTOR
    assert out["egress"] == [{"to": [in_namespace("roost", CONTROL_PLANE)], "ports": [{"port": 8081}]}]
    into = policy(objects, "roost")
    assert into["podSelector"]["matchLabels"] == CONTROL_PLANE
    api, internal = into["ingress"]
    assert api == {"ports": [{"port": 8080}]}
    assert internal == {"from": [in_namespace("roost-agents", EXECUTOR)], "ports": [{"port": 8081}]}


def test_the_api_can_be_limited_to_some():
    peers = [{"namespaceSelector": {"matchLabels": {"team": "web"}}}]
    objects = render({**SMALL, "networkPolicy": {"apiFrom": peers}})
    assert policy(objects, "roost")["ingress"][0] == {"ports": [{"port": 8080}], "from": peers}


def test_builders_reach_the_bundled_registry_and_executors_do_not():
    objects = render(TRIAL)
    registry = {**CONTROL_PLANE, "app.kubernetes.io/component": "registry"}
    out = policy(objects, "roost-builders")
    assert out["podSelector"]["matchLabels"] == BUILDER
    assert out["egress"] == [{"to": [in_namespace("roost", registry)], "ports": [{"port": 5000}]}]
    (rule,) = policy(objects, "roost-registry")["ingress"]
    assert in_namespace("roost-agents", BUILDER) in rule["from"]
    assert in_namespace("roost-agents", EXECUTOR) not in rule["from"]


def test_what_the_operator_opens_for_builders_is_open_for_builders_only():
    name = LARGE["fullnameOverride"]
    opened = LARGE["networkPolicy"]["buildersEgress"][0]
    assert opened in policy(render(LARGE), f"{name}-builders")["egress"]
    assert opened not in policy(render(LARGE), f"{name}-internet")["egress"]


def test_only_the_control_plane_reaches_the_database():
    spec = policy(render(TRIAL), "roost-postgresql")
    peers = [{"podSelector": {"matchLabels": CONTROL_PLANE}}]
    assert spec["ingress"] == [{"ports": [{"port": 5432}], "from": peers}]
    assert spec["egress"] == []


def test_policies_can_be_left_out():
    assert not render({**TRIAL, "networkPolicy": {"enabled": False}}).of("NetworkPolicy")
