"""What every installation has to be, whatever its values."""

import base64
import json
import os
import re
import ssl
import subprocess
import sys

import pytest
import yaml
from helm_chart import CHART, COMBINATIONS, HELM, IMAGES, LARGE, SMALL, TRIAL, refusal, render, run

pytestmark = pytest.mark.skipif(HELM is None, reason="there is no helm")

LABEL = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")
NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
ROOST_LABELS = {"name", "instance", "component", "part-of", "managed-by", "version"}


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_lint_finds_nothing(combination):
    linted = run("lint", COMBINATIONS[combination])
    assert linted.returncode == 0 and "[WARNING]" not in linted.stdout, linted.stdout + linted.stderr


def test_every_pod_passes_pod_security_restricted(rendered):
    for name, _, pod in rendered.pods():
        security = pod["securityContext"]
        assert security["runAsNonRoot"] is True and security["runAsUser"] > 0, name
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod), name
        allowed = {"configMap", "secret", "emptyDir", "persistentVolumeClaim"}
        assert all(set(volume) - {"name"} <= allowed for volume in pod.get("volumes", [])), name
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, name
            assert not any("hostPort" in port for port in container.get("ports", [])), name
            assert {"requests", "limits"} <= set(container["resources"]), name
            assert {"cpu", "memory", "ephemeral-storage"} <= set(container["resources"]["requests"]), name


def test_only_those_who_call_the_api_server_get_a_token(rendered):
    with_token = {meta["labels"]["app.kubernetes.io/component"] for _, meta, pod in rendered.pods() if token(pod)}
    assert with_token <= {"control-plane", "cleanup"}


def token(pod):
    return pod.get("automountServiceAccountToken", True)


def test_no_right_reaches_beyond_the_agents_namespace(rendered):
    assert not rendered.of("ClusterRole") and not rendered.of("ClusterRoleBinding")
    agents = rendered.settings()["roost.kubernetes.namespace"]
    for each in rendered.of("Role") + rendered.of("RoleBinding"):
        assert each["metadata"]["namespace"] == agents != "roost"


def test_the_control_plane_may_do_no_more_than_it_needs(rendered):
    role = rendered.one("Role", rendered.one("Deployment")["metadata"]["name"])
    rights = {(resource, verb) for rule in role["rules"] for resource in rule["resources"] for verb in rule["verbs"]}
    assert rights == {
        *(("jobs", verb) for verb in ("create", "get", "list", "watch", "delete")),
        *(("pods", verb) for verb in ("get", "list", "watch", "delete", "patch")),
        ("pods/log", "get"),
        ("secrets", "create"),
        ("networkpolicies", "create"),
        *(("events", verb) for verb in ("get", "list", "watch")),
    }


def test_the_agents_account_has_no_rights(rendered):
    account = rendered.one("ServiceAccount", rendered.settings()["roost.kubernetes.service-account"])
    assert account["automountServiceAccountToken"] is False
    assert account["metadata"]["namespace"] == rendered.settings()["roost.kubernetes.namespace"]
    bound = {subject["name"] for binding in rendered.of("RoleBinding") for subject in binding["subjects"]}
    assert account["metadata"]["name"] not in bound


def test_names_and_labels_are_valid(rendered):
    for each in rendered:
        meta = each["metadata"]
        assert NAME.fullmatch(meta["name"]), meta["name"]
        assert {f"app.kubernetes.io/{label}" for label in ROOST_LABELS} <= set(meta["labels"]), meta["name"]
        # What the control plane makes carries managed-by=roost and is deleted by that label.
        assert meta["labels"]["app.kubernetes.io/managed-by"] == "Helm"
        assert all(LABEL.fullmatch(value) for value in meta["labels"].values()), meta["name"]
        assert each["kind"] == "Namespace" or "namespace" in meta, meta["name"]


def test_names_leave_room_for_what_controllers_append(rendered):
    for kind in ("StatefulSet", "Deployment"):
        for each in rendered.of(kind):
            assert len(each["metadata"]["name"]) + len("-5d8f9c7b6d") <= 63


@pytest.mark.parametrize("release", ["r" * 53, "a.b", "my-roost", "x"])
def test_any_release_name_gives_valid_names(release):
    objects = render(TRIAL, release=release, namespace="n" * 63)
    test_names_and_labels_are_valid(objects)
    test_names_leave_room_for_what_controllers_append(objects)


def test_selectors_find_their_own_pods_only(rendered):
    pods = {name: meta["labels"] for name, meta, _ in rendered.pods()}
    for each in rendered.of("Service"):
        selected = [name for name, labels in pods.items() if each["spec"]["selector"].items() <= labels.items()]
        expected = each["metadata"]["name"]
        assert selected == [re.sub("-(internal|metrics)$", "", expected)]


def test_no_secret_is_in_a_config_map(rendered):
    assert not any(re.search("password|token|secret_", key) for key in rendered.settings())
    environment = rendered.one("Deployment")["spec"]["template"]["spec"]["containers"][0]["env"]
    for variable in environment:
        if variable["name"].startswith("ROOST_DATABASE_"):
            assert set(variable["valueFrom"]) == {"secretKeyRef"}


def test_the_generated_key_has_the_form_of_an_api_key():
    data = render(SMALL).one("Secret", "roost-api-key")["data"]
    assert re.fullmatch(rb"roost_[a-z0-9]{10}_[0-9a-f]{64}", base64.b64decode(data["api-key"]))


def test_existing_secrets_are_used_instead_of_generated_ones():
    objects = render({**SMALL, "apiKey": {"existingSecret": "key"}, "link": {"tls": {"existingSecret": "link"}}})
    assert not objects.of("Secret")
    pod = objects.one("Deployment")["spec"]["template"]["spec"]
    assert {v["name"]: v for v in pod["volumes"]}["api-key"]["secret"]["secretName"] == "key"
    assert {v["name"]: v for v in pod["volumes"]}["link"]["secret"]["secretName"] == "link"
    references = [v["valueFrom"]["secretKeyRef"] for v in pod["containers"][0]["env"] if "valueFrom" in v]
    assert sorted((r["name"], r["key"]) for r in references) == [
        ("database", "password"),
        ("database", "url"),
        ("database", "username"),
    ]


def test_the_agents_namespace_is_restricted():
    labels = render(SMALL).one("Namespace", "roost-agents")["metadata"]["labels"]
    for mode in ("enforce", "warn", "audit"):
        assert labels[f"pod-security.kubernetes.io/{mode}"] == "restricted"


def test_a_namespace_that_stays_is_cleaned_up_by_a_hook():
    objects = render(LARGE)
    assert not objects.of("Namespace")
    cleanup = [each for each in objects if each["metadata"]["labels"]["app.kubernetes.io/component"] == "cleanup"]
    assert sorted(each["kind"] for each in cleanup) == ["Pod", "Role", "RoleBinding", "ServiceAccount"]
    assert all(each["metadata"]["annotations"]["helm.sh/hook"] == "post-delete" for each in cleanup)
    (role,) = [each for each in cleanup if each["kind"] == "Role"]
    assert role["rules"] == [{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["deletecollection"]}]


def test_an_upgrade_takes_no_replica_away_before_another_is_ready(rendered):
    deployment = rendered.one("Deployment")["spec"]
    assert deployment["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    container = deployment["template"]["spec"]["containers"][0]
    assert container["readinessProbe"]["httpGet"]["path"] == "/q/health/ready"
    assert rendered.settings()["roost.drain"] == "10s"
    assert rendered.one("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1


def test_a_change_of_settings_restarts_the_control_plane():
    def checksum(values):
        return render(values).one("Deployment")["spec"]["template"]["metadata"]["annotations"]

    changed = {**SMALL, "settings": {"roost.builds.concurrency": 3}}
    assert checksum(SMALL) == checksum({**SMALL, "replicas": 5})
    assert checksum(SMALL) != checksum(changed)


DATABASE_WITH_AUTHORITY = {"existingSecret": "database", "ca": {"secret": "database-ca"}}
DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("images", "policy", "moves"),
    [
        ({"tag": "0.1.0-SNAPSHOT"}, "Always", True),
        ({"tag": "latest"}, "Always", True),
        ({"controlPlane": "registry.example.org:5000/control-plane"}, "Always", True),
        ({"tag": "0.1.0"}, "IfNotPresent", False),
        ({"tag": "5d8f9c7b6d5d8f9c"}, "IfNotPresent", False),
        ({"tag": "0.1.0-SNAPSHOT", "digests": {"controlPlane": DIGEST}}, "IfNotPresent", False),
        ({"controlPlane": f"registry.example.org/control-plane@{DIGEST}"}, "IfNotPresent", False),
        ({"tag": "latest", "pullPolicy": "Never"}, "Never", True),
    ],
)
def test_an_upgrade_takes_the_image_that_its_tag_means_now(images, policy, moves):
    template = render({**SMALL, "images": {**IMAGES, **images}}).one("Deployment")["spec"]["template"]
    assert template["spec"]["containers"][0]["imagePullPolicy"] == policy
    assert ("roost/release-revision" in template["metadata"]["annotations"]) == moves


def test_images_are_pinned_by_digests():
    digests = {"controlPlane": "sha256:" + "b" * 64, "executor": "sha256:" + "c" * 64}
    objects = render({**SMALL, "images": {**IMAGES, "tag": "1.0.0", "digests": digests}})
    image = objects.one("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image == "registry.example.org/roost/control-plane:1.0.0@sha256:" + "b" * 64
    settings = objects.settings()
    assert settings["roost.kubernetes.executor-image"].endswith("/executor:1.0.0@sha256:" + "c" * 64)
    assert settings["roost.kubernetes.builder-image"] == "registry.example.org/roost/builder:1.0.0"


def test_a_corrected_template_replaces_a_pod_that_never_got_ready(rendered):
    for each in rendered.of("StatefulSet"):
        assert each["spec"]["podManagementPolicy"] == "Parallel"


@pytest.mark.parametrize("kind", ["secret", "configMap"])
def test_the_databases_authority_and_more_volumes_are_mounted(kind):
    values = {
        **SMALL,
        "database": {"existingSecret": "database", "ca": {kind: "database-ca"}},
        "extraVolumes": [{"name": "more", "configMap": {"name": "more"}}],
        "extraVolumeMounts": [{"name": "more", "mountPath": "/more"}],
    }
    pod = render(values).one("Deployment")["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    assert set(mounts) == set(volumes)
    assert volumes["database-ca"][kind]["items"] == [{"key": "ca.crt", "path": "ca.crt"}]
    assert mounts["database-ca"] == "/etc/roost-database" and mounts["more"] == "/more"


def test_settings_reach_the_file_as_they_are():
    values = {
        "roost.limits.payload-bytes": 10485760,
        "roost.kubernetes.builder-cpu": 1.5,
        "roost.welcome": False,
        "roost.drain": 0,
        "roost.builds.index-url": "back\\slash",
        'roost.kubernetes.base-images."3.13"': "registry.example.org/python:3.13",
        'quarkus.log.category."dev.roost".level': "DEBUG",
    }
    settings = render({**SMALL, "settings": values}).settings()
    expected = {
        "roost.limits.payload-bytes": "10485760",
        "roost.kubernetes.builder-cpu": "1.5",
        "roost.welcome": "false",
        "roost.drain": "0",
        "roost.builds.index-url": "back\\\\slash",
        'roost.kubernetes.base-images."3.13"': "registry.example.org/python:3.13",
        'quarkus.log.category."dev.roost".level': "DEBUG",
    }
    assert expected.items() <= settings.items()


def test_what_the_chart_sets_itself_is_not_among_the_settings(rendered):
    allowed = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))["properties"]["settings"]
    by_default = {name for name in render(SMALL).settings() if name.startswith("quarkus.")} | {
        "roost.drain",
        "roost.welcome",
        "roost.log-format",
        *LARGE["settings"],
    }
    for name in set(rendered.settings()) - by_default:
        assert name not in allowed["properties"], name
        assert not any(re.search(pattern, name) for pattern in allowed["patternProperties"]), name
    assert by_default <= set(allowed["properties"])


def test_the_agents_pods_get_their_settings():
    settings = render(LARGE).settings()
    assert settings["roost.kubernetes.image-pull-secrets"] == "pull," + "r" * 40 + "-registry"
    assert settings['roost.kubernetes.node-selector."example.org/agents"'] == "yes"
    assert settings["roost.kubernetes.tolerations"] == '[{"key":"agents","operator":"Exists"}]'


def test_executors_reach_the_control_plane_by_tls_with_a_certificate_for_its_name(tmp_path):
    objects = render(SMALL)
    settings = objects.settings()
    assert settings["roost.kubernetes.executor-url"] == "https://roost-internal.roost.svc:8081"
    pod = objects.one("Deployment")["spec"]["template"]["spec"]
    assert {v["name"]: v for v in pod["volumes"]}["link"]["secret"]["secretName"] == "roost-link"
    (mount,) = [one for one in pod["containers"][0]["volumeMounts"] if one["name"] == "link"]
    data = objects.one("Secret", "roost-link")["data"]
    for setting, key in (("certificate", "tls.crt"), ("key", "tls.key"), ("ca", "ca.crt")):
        assert settings[f"roost.link.{setting}"] == f"{mount['mountPath']}/{key}"
        (tmp_path / key).write_bytes(base64.b64decode(data[key]))
    assert talk(tmp_path, "roost-internal.roost.svc")
    with pytest.raises(ssl.SSLCertVerificationError):
        talk(tmp_path, "roost.roost.svc")


def talk(directory, name):
    """A handshake of both sides in memory."""
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=directory / "ca.crt")
    server.load_cert_chain(directory / "tls.crt", directory / "tls.key")
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(10):
        for side in list(sides):
            try:
                side.do_handshake()
                sides.remove(side)
            except ssl.SSLWantReadError:
                pass
    return not sides


def test_nothing_mounts_the_key_of_the_authority(rendered):
    for name, _, pod in rendered.pods():
        assert not any(
            v.get("secret", {}).get("secretName", "").endswith("-link-ca") for v in pod.get("volumes", [])
        ), name


def test_tls_of_the_link_can_be_left_out():
    objects = render({**SMALL, "link": {"tls": {"enabled": False}}})
    settings = objects.settings()
    assert settings["roost.kubernetes.executor-url"] == "http://roost-internal.roost.svc:8081"
    assert not any(key.startswith("roost.link") for key in settings)
    assert not objects.of("Secret", "roost-link")
    volumes = objects.one("Deployment")["spec"]["template"]["spec"]["volumes"]
    assert "link" not in [volume["name"] for volume in volumes]


def test_the_profiles_that_agents_can_choose_get_to_the_control_plane():
    profiles = json.loads(render(LARGE).settings()["roost.kubernetes.profiles"])
    assert profiles == LARGE["agents"]["profiles"]
    assert "roost.kubernetes.profiles" not in render(SMALL).settings()


def test_agents_may_open_what_the_policies_let_everyone_reach_and_no_more():
    settings = render(LARGE).settings()
    assert settings["roost.kubernetes.network-policies"] == "true"
    assert "168.63.129.16/32" in settings["roost.kubernetes.egress-except"].split(",")
    assert settings["roost.kubernetes.egress-allowed"].split(",") == [
        "10.20.0.7/32:443",
        "10.20.0.7/32:8443",
        "[fd00::/64]:443",
        "[fd00::/64]:8443",
        "10.30.0.0/16:*",
    ]
    closed = render({**SMALL, "networkPolicy": {"internet": {"enabled": False}}}).settings()
    assert closed["roost.kubernetes.egress-except"] == "0.0.0.0/0,::/0"


def test_without_network_policies_no_agent_can_have_one():
    objects = render({**SMALL, "networkPolicy": {"enabled": False}})
    assert objects.settings()["roost.kubernetes.network-policies"] == "false"
    (role,) = objects.of("Role", "roost")
    assert not any("networkpolicies" in rule["resources"] for rule in role["rules"])


def test_the_bundled_registry_has_one_name_for_builders_and_one_for_nodes():
    objects = render(TRIAL)
    settings = objects.settings()
    assert settings["roost.kubernetes.repository"] == "roost-registry.roost.svc:5000/agents"
    assert settings["roost.kubernetes.pull-repository"] == "localhost:30500/agents"
    assert settings["roost.kubernetes.insecure-registry"] == "true"
    assert objects.one("Service", "roost-registry")["spec"]["ports"][0]["nodePort"] == 30500


def test_the_bundled_registry_has_a_password_that_builders_and_nodes_get():
    objects = render(TRIAL)
    settings = objects.settings()
    assert settings["roost.kubernetes.registry-secret"] == "roost-registry"
    assert settings["roost.kubernetes.image-pull-secrets"] == "roost-registry"
    secrets = {each["metadata"]["namespace"]: each["data"] for each in objects.of("Secret", "roost-registry")}
    password = base64.b64decode(secrets["roost"]["password"]).decode()
    assert re.fullmatch(r"[A-Za-z0-9]{40}", password)
    assert base64.b64decode(secrets["roost"]["htpasswd"]).startswith(b"roost:$2")
    assert set(secrets["roost-agents"]) == {".dockerconfigjson"}
    logins = json.loads(base64.b64decode(secrets["roost-agents"][".dockerconfigjson"]))["auths"]
    assert set(logins) == {"roost-registry.roost.svc:5000", "localhost:30500"}
    for login in logins.values():
        assert base64.b64decode(login["auth"]).decode() == f"roost:{password}"
    container = objects.one("StatefulSet", "roost-registry")["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "REGISTRY_AUTH", "value": "htpasswd"} in container["env"]


def test_back_ups_stay_and_a_restore_never_runs_by_itself():
    objects = render({**SMALL, "backup": {"enabled": True, "keep": 3}, "database": DATABASE_WITH_AUTHORITY})
    claim = objects.one("PersistentVolumeClaim", "roost-backup")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    jobs = {each["metadata"]["name"]: each["spec"] for each in objects.of("CronJob")}
    assert {name: job["suspend"] for name, job in jobs.items()} == {"roost-backup": False, "roost-restore": True}
    for name, _, pod in objects.pods():
        if name in jobs:
            assert {mount["name"] for mount in pod["containers"][0]["volumeMounts"]} == {
                v["name"] for v in pod["volumes"]
            }
            assert "database-ca" in {volume["name"] for volume in pod["volumes"]}
    assert not render(SMALL).of("CronJob")


@pytest.mark.parametrize(
    ("jdbc", "libpq"),
    [
        ("jdbc:postgresql://db/roost", "postgresql://db/roost"),
        ("jdbc:postgresql://db:5433/roost?ssl=true&prepareThreshold=0", "postgresql://db:5433/roost"),
        (
            "jdbc:postgresql://a:1,b:2/roost?prepareThreshold=0&sslmode=verify-full&sslrootcert=/etc/roost-database/ca.crt",
            "postgresql://a:1,b:2/roost?sslmode=verify-full&sslrootcert=/etc/roost-database/ca.crt",
        ),
    ],
)
def test_back_ups_understand_the_databases_address(jdbc, libpq):
    script = f'set -eu\n. {CHART / "files/database.sh"}\nprintf %s "$url"'
    environment = {"ROOST_DATABASE_URL": jdbc, "PATH": os.environ["PATH"]}
    assert subprocess.check_output(["sh", "-c", script], env=environment, text=True) == libpq


def test_volumes_go_with_the_release(rendered):
    for each in rendered.of("StatefulSet"):
        assert "volumeClaimTemplates" not in each["spec"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"replica": 3}, "replica"),
        ({"registry": {"repositry": "x/y"}}, "repositry"),
        ({"replicas": 0}, "replicas"),
        ({"replicas": "two"}, "replicas"),
        ({"settings": {"builds.concurrency": 3}}, "builds.concurrency"),
        ({"settings": {"roost.builds.concurency": 3}}, "roost.builds.concurency"),
        ({"settings": {"roost.builds.concurrency": "many"}}, "roost.builds.concurrency"),
        ({"settings": {"roost.builds.timeout": "soon"}}, "roost.builds.timeout"),
        ({"settings": {"roost.kubernetes.default-python-version": 3.10}}, "default-python-version"),
        ({"settings": {"quarkus.http.access-log.enabled": True}}, "quarkus.http.access-log.enabled"),
        ({"settings": {"quarkus.log.levle": "DEBUG"}}, "quarkus.log.levle"),
        ({"settings": {"roost.database.password": "x"}}, "roost.database.password"),
        ({"settings": {"roost.port": 9090}}, "roost.port"),
        ({"settings": {"roost.link.ca": "/x"}}, "roost.link.ca"),
        ({"settings": {"roost.kubernetes.repository": "x/y"}}, "roost.kubernetes.repository"),
        ({"registry": {"repository": "https://registry.example.org/x"}}, "repository"),
        ({"agents": {"namespace": "Upper"}}, "namespace"),
        ({"agents": {"profiles": {"a": {"runtimeClas": "gvisor"}}}}, "runtimeClas"),
        ({"agents": {"profiles": {"A": {}}}}, "'A' does not match"),
        ({"agents": {"profiles": {"a": {"extendedResources": {"gpu": 1}}}}}, "'gpu' does not match"),
        ({"agents": {"profiles": {"a": {"cpuLimit": 0}}}}, "cpuLimit"),
        ({"agents": {"profiles": {"a": {"seccompProfile": {"type": "Unconfined"}}}}}, "seccompProfile"),
        ({"settings": {"roost.kubernetes.profiles": "{}"}}, "roost.kubernetes.profiles"),
        ({"agents": {"namespace": "roost"}}, "agents.namespace"),
        ({"database": {"existingSecret": ""}}, "database.existingSecret"),
        ({"postgresql": {"enabled": True}}, "postgresql.enabled"),
        ({"registry": {"repository": ""}}, "registry.repository"),
        ({"images": {}}, "images.prefix"),
        ({"backup": {"enabled": True, "keep": 0}}, "keep"),
        ({"images": {**IMAGES, "digests": {"controlPlane": "latest"}}}, "controlPlane"),
        ({"images": {**IMAGES, "builder": "x@" + "sha256:1", "digests": {"builder": "sha256:" + "0" * 64}}}, "builder"),
        ({"database": {"existingSecret": "a", "ca": {"secret": "a", "configMap": "b"}}}, "database.ca.configMap"),
        ({"ingress": {"enabled": True}}, "ingress.host"),
        ({"metrics": {"rules": {"enabled": True}}}, "metrics.enabled"),
    ],
)
def test_wrong_values_are_refused_by_name(change, named):
    assert named in refusal({**SMALL, **change})


def test_the_scripts_are_python_that_the_oldest_image_understands():
    for script in (CHART / "files").glob("*.py"):
        code = f"import ast; ast.parse(open({str(script)!r}).read(), feature_version=(3, 9))"
        subprocess.run([sys.executable, "-c", code], check=True)


def test_without_metrics_nothing_listens_for_them():
    objects = render(SMALL)
    assert "roost.metrics-port" not in objects.settings()
    assert not objects.of("ServiceMonitor") and not objects.of("PrometheusRule")
    ports = objects.one("Deployment")["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert {port["containerPort"] for port in ports} == {8080, 8081}


def test_prometheus_finds_the_port_that_the_pods_open():
    objects = render(LARGE)
    name = objects.one("Deployment")["metadata"]["name"]
    monitor, service = objects.one("ServiceMonitor"), objects.one("Service", f"{name}-metrics")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    selector = monitor["spec"]["selector"]["matchLabels"]
    found = [
        one["metadata"]["name"]
        for one in objects.of("Service")
        if selector.items() <= one["metadata"]["labels"].items()
    ]
    assert found == [f"{name}-metrics"]
    (endpoint,), (port,) = monitor["spec"]["endpoints"], service["spec"]["ports"]
    assert endpoint["port"] == port["name"] and endpoint["path"] == "/metrics"
    ports = objects.one("Deployment")["spec"]["template"]["spec"]["containers"][0]["ports"]
    (opened,) = [one["containerPort"] for one in ports if one["name"] == port["targetPort"]]
    assert objects.settings()["roost.metrics-port"] == str(opened) == str(port["port"])
    ingress = objects.one("NetworkPolicy", name)["spec"]["ingress"]
    (rule,) = [one for one in ingress if one["ports"] == [{"port": opened}]]
    (peer,) = rule["from"]
    agents = objects.settings()["roost.kubernetes.namespace"]
    assert peer["namespaceSelector"]["matchExpressions"] == [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [agents]}
    ]


def test_the_rules_and_the_dashboard_are_the_files():
    objects = render(LARGE)
    rules = yaml.safe_load((CHART / "files/alerts.yaml").read_text(encoding="utf-8"))
    assert objects.one("PrometheusRule")["spec"] == rules
    (dashboard,) = [one for one in objects.of("ConfigMap") if "roost.json" in one["data"]]
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(dashboard["data"]["roost.json"]) == json.loads(
        (CHART / "files/dashboard.json").read_text("utf-8")
    )


def test_images_are_pulled_on_each_node_only_if_wanted():
    assert not render(SMALL).of("DaemonSet")
    daemons = render(LARGE).one("DaemonSet")
    pod = daemons["spec"]["template"]["spec"]
    assert daemons["metadata"]["namespace"] == "a" * 63
    assert [each["image"] for each in pod["initContainers"]] == ["registry.example.org/python:3.13-slim"]
    assert pod["containers"][0]["image"].startswith("registry.example.org/roost/executor:")
    # Where agents run, and with what they pull.
    assert pod["nodeSelector"] == {"example.org/agents": "yes"}
    assert pod["tolerations"] == [{"key": "agents", "operator": "Exists"}]
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    for container in [*pod["containers"], *pod["initContainers"]]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def environment(values, prefix):
    """The control plane's variables whose names begin so."""
    (control_plane,) = [
        container
        for deployment in render({**SMALL, **values}).of("Deployment")
        for container in deployment["spec"]["template"]["spec"]["containers"]
        if any(each["name"] == "ROOST_DATABASE_URL" for each in container.get("env", []))
    ]
    return {each["name"]: each for each in control_plane["env"] if each["name"].startswith(prefix)}


def test_the_mail_server_is_set_with_its_password_from_a_secret():
    assert environment({}, "ROOST_MAIL_") == {}
    mail = {"host": "smtp.example.org", "from": "roost@example.org", "existingSecret": "mail"}
    found = environment({"mail": mail}, "ROOST_MAIL_")
    assert found["ROOST_MAIL_HOST"]["value"] == "smtp.example.org"
    assert found["ROOST_MAIL_PORT"]["value"] == "587"
    assert found["ROOST_MAIL_ENCRYPTION"]["value"] == "starttls"
    assert found["ROOST_MAIL_FROM"]["value"] == "roost@example.org"
    assert found["ROOST_MAIL_PASSWORD"]["valueFrom"]["secretKeyRef"] == {"name": "mail", "key": "password"}
    assert found["ROOST_MAIL_USER"]["valueFrom"]["secretKeyRef"] == {"name": "mail", "key": "username"}


def test_the_bucket_of_files_is_set_with_its_key_from_a_secret():
    assert environment({}, "ROOST_FILES_") == {}
    found = environment({"files": {"bucket": "roost"}}, "ROOST_FILES_")
    assert {name: each["value"] for name, each in found.items()} == {
        "ROOST_FILES_BUCKET": "roost",
        "ROOST_FILES_REGION": "us-east-1",
    }
    values = {"bucket": "b", "endpoint": "https://s3.example.org", "existingSecret": "s3"}
    found = environment({"files": values}, "ROOST_FILES_")
    assert found["ROOST_FILES_ENDPOINT"]["value"] == "https://s3.example.org"
    assert found["ROOST_FILES_ACCESS_KEY"]["valueFrom"]["secretKeyRef"] == {"name": "s3", "key": "access-key"}
    assert found["ROOST_FILES_SECRET_KEY"]["valueFrom"]["secretKeyRef"] == {"name": "s3", "key": "secret-key"}
