from __future__ import annotations

import copy
import json
import pickle
import re
from datetime import datetime, timedelta, timezone

import httpx
import pytest
from support import Server, agent, builder_job, execution, job, problem

import roost
from roost._values import parse_json, parse_time

SCRIPT = "def main(request, store): ...\n"


def test_create_sends_what_was_given_in_the_apis_form(server: Server) -> None:
    server.on("POST", "/agents", agent())
    made = server.client.agents.create(
        script=SCRIPT,
        requirements=["Jinja2==3.1.4", "# templates"],
        env_vars={"LANG": "en", "PAIR": "a=b"},
        store_ids=[],
        timeout=5,
    )
    assert json.loads(server.requests[0].content) == {
        "script": SCRIPT,
        "requirements": "Jinja2==3.1.4\n# templates",
        "env_vars": "LANG=en\nPAIR=a=b",
        "store_ids": [],
        "timeout": 5,
    }
    assert made.env_vars == {"TOKEN": "hush-hush", "EMPTY": ""}
    assert made.created_at == datetime(2026, 11, 2, 9, 0, 0, 1, tzinfo=timezone.utc)


def test_stores_are_found_by_name_or_created(server: Server) -> None:
    found = {"id": "store_1", "name": "people"}
    made = {"id": "store_2", "name": "new"}
    empty: dict[str, object] = {"data": [], "next_cursor": None}
    server.on("GET", "/datastore", {"data": [found], "next_cursor": None}, empty)
    server.on("POST", "/datastore", made)
    server.on("POST", "/agents", agent())
    third = roost.DataStore(server.client, {"id": "store_3"})
    server.client.agents.create(script=SCRIPT, stores=["people", "new", third])
    body = json.loads(server.sent("POST", "/agents")[0].content)
    assert body["store_ids"] == ["store_1", "store_2", "store_3"]


def test_stores_that_were_created_for_an_agent_that_is_refused_are_deleted(server: Server) -> None:
    found = {"data": [{"id": "store_1", "name": "people"}], "next_cursor": None}
    empty: dict[str, object] = {"data": [], "next_cursor": None}
    server.on("GET", "/datastore", found, empty)
    server.on("POST", "/datastore", {"id": "store_2", "name": "new"})
    server.on("DELETE", "/datastore/store_2", problem(409, "conflict"))
    server.on("POST", "/agents", problem(422, "validation_failed"))
    with pytest.raises(roost.ValidationError):
        server.client.agents.create(script=SCRIPT, stores=["people", "new"], timeout=-1)
    deleted = [each.url.path for each in server.requests if each.method == "DELETE"]
    assert deleted == ["/v1/datastore/store_2"]


def test_a_name_where_an_id_belongs_is_explained(server: Server) -> None:
    with pytest.raises(roost.NotFound, match="to look up a name, use name='sq'") as raised:
        server.client.agents.retrieve("sq")
    assert raised.value.status == 404
    with pytest.raises(roost.NotFound, match="use name='people'"):
        server.client.datastores.retrieve("people")
    with pytest.raises(roost.NotFound) as raised:
        server.client.agents.retrieve("agent_9")
    assert "give name" not in str(raised.value)


@pytest.mark.parametrize(
    ("payload", "where"),
    [
        ({1}, "payload: Object of type set"),
        ({"at": [0, {"x": datetime(2026, 1, 1)}]}, 'payload["at"][1]["x"]: Object of type dat'),
        ([(b"",)], "payload[0][0]: Object of type bytes"),
    ],
)
def test_what_json_cannot_hold_is_named_with_its_place(
    server: Server, payload: object, where: str
) -> None:
    with pytest.raises(TypeError, match=re.escape(where)):
        roost.Agent(server.client, agent()).submit(payload)


def test_a_resource_is_a_dictionary_when_asked(server: Server) -> None:
    found = roost.Agent(server.client, agent())
    data = found.to_dict()
    assert data == agent()
    data["store_ids"].append("store_2")
    assert found.store_ids == ["store_1"]


def test_the_module_lists_what_it_has() -> None:
    names = dir(roost)
    assert {"aio", "Agent", "api_key", "__version__"} <= set(names)
    assert {name for name in names if not name.startswith("__")} == {
        "aio",
        *(name for name in roost.__all__ if not name.startswith("__")),
    }
    assert not hasattr(roost, "importlib")


def test_a_store_that_someone_else_makes_first_is_found(server: Server) -> None:
    empty: dict[str, object] = {"data": [], "next_cursor": None}
    found = {"data": [{"id": "store_1", "name": "people"}], "next_cursor": None}
    server.on("GET", "/datastore", empty, found)
    server.on("POST", "/datastore", problem(409, "conflict"))
    assert server.client.datastores.ensure("people").id == "store_1"


def test_a_line_break_in_a_variable_is_refused_without_its_value(server: Server) -> None:
    with pytest.raises(ValueError, match="'TOKEN'") as raised:
        server.client.agents.create(script=SCRIPT, env_vars={"TOKEN": "hush\nhush"})
    assert "hush" not in str(raised.value)
    with pytest.raises(ValueError, match="line break"):
        server.client.agents.create(script=SCRIPT, requirements=["a==1\nb==2"])
    assert server.requests == []


def test_update_changes_in_place(server: Server) -> None:
    server.on("PATCH", "/agents/agent_1", agent(revision=2, requirements=""))
    greeter = roost.Agent(server.client, agent())
    assert greeter.update(requirements=None, env_vars={"A": "1"}) is greeter
    assert greeter.revision == 2
    body = json.loads(server.requests[0].content)
    assert body == {"requirements": "", "env_vars": "A=1"}


def test_an_unknown_setting_is_named(server: Server) -> None:
    greeter = roost.Agent(server.client, agent())
    with pytest.raises(TypeError, match="did you mean 'memory'"):
        greeter.update(memroy=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("wrong", [{"python_version": 3.13}, {"script": b""}, {"stores": "people"}])
def test_a_wrong_type_is_refused(server: Server, wrong: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        roost.Agent(server.client, agent()).update(**wrong)  # type: ignore[arg-type]


def test_fields_cannot_be_assigned(server: Server) -> None:
    with pytest.raises(AttributeError, match="update"):
        roost.Agent(server.client, agent()).name = "other"


def test_retrieve_by_name(server: Server) -> None:
    page = {"data": [agent(name="greeter-2"), agent()], "next_cursor": None}
    server.on("GET", "/agents", page)
    assert server.client.agents.retrieve(name="greeter").name == "greeter"
    with pytest.raises(roost.NotFound, match="nobody"):
        server.client.agents.retrieve(name="nobody")


def test_lists_page_lazily(server: Server) -> None:
    server.on(
        "GET",
        "/agents",
        {"data": [agent(id="a"), agent(id="b")], "next_cursor": "c1"},
        {"data": [agent(id="c"), agent(id="d")], "next_cursor": "c2"},
    )
    agents = server.client.agents.list(q="greet", limit=3)
    assert server.requests == []
    assert next(agents).id == "a"
    assert len(server.requests) == 1
    assert [each.id for each in agents] == ["b", "c"]
    assert [dict(request.url.params) for request in server.requests] == [
        {"q": "greet", "limit": "3"},
        {"q": "greet", "limit": "1", "cursor": "c1"},
    ]


def test_module_level_lists_take_filters(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    empty: dict[str, object] = {"data": [], "next_cursor": None}
    server.on("GET", "/executions", empty)
    assert list(roost.Execution.list(agent_id="agent_1", client=server.client)) == []
    assert dict(server.requests[0].url.params) == {"agent_id": "agent_1"}
    with pytest.raises(ValueError, match="limit"):
        roost.Execution.list(limit=-1, client=server.client)


def test_repr_shows_what_it_is_and_no_secret(server: Server) -> None:
    greeter = roost.Agent(server.client, agent())
    assert repr(greeter) == "<roost.Agent id='agent_1' name='greeter' revision=1>"
    assert "hush" not in repr(greeter)
    run = roost.Execution(server.client, execution())
    assert repr(run) == "<roost.Execution id='exec_1' state='succeeded' reason=None>"
    assert repr(roost.ExecutorJob(server.client, job())).startswith("<roost.ExecutorJob id=")


def test_equal_is_who_is_the_same(server: Server) -> None:
    one, other = roost.Agent(server.client, agent()), roost.Agent(None, agent(revision=2))
    assert one == other
    assert len({one, other}) == 1
    assert one != roost.Agent(None, agent(id="agent_2"))
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.copy(one) == one


def test_hidden_variables_are_none(server: Server) -> None:
    assert roost.Agent(server.client, agent(env_vars=None)).env_vars is None
    text = "# A=1\r\nB=x=y\r\n\r\nC=********"
    hidden = roost.Agent(server.client, agent(env_vars=text)).env_vars
    assert hidden == {"B": "x=y", "C": "********"}


def test_a_build_lists_its_packages(server: Server) -> None:
    package = {"name": "Jinja2", "version": "3.1.4", "sha256": "ab", "new": 1}
    removed = {"removed_at": "2026-11-22T10:00:00Z"}
    server.on("GET", "/builds/build_1", {"id": "build_1", "packages": [package], **removed})
    build = server.client.builds.retrieve("build_1")
    assert build.packages == (roost.Package("Jinja2", "3.1.4", "ab"),)
    assert build.removed_at == datetime(2026, 11, 22, 10, tzinfo=timezone.utc)


def test_a_build_has_the_names_of_its_packages(server: Server) -> None:
    symbols = [{"name": "Tag", "kind": "class"}]
    server.on("GET", "/builds/build_1/modules", {"modules": ["bs4"]}, {"modules": None})
    described = {"name": "bs4.element", "symbols": symbols}
    server.on("GET", "/builds/build_1/modules/bs4.element", described)
    build = roost.Build(server.client, {"id": "build_1"})
    assert build.modules() == ["bs4"]
    assert build.modules() is None
    assert build.symbols("bs4.element") == symbols


def test_a_build_has_a_bill_of_materials(server: Server) -> None:
    server.on("GET", "/builds/build_1/sbom", {"bomFormat": "CycloneDX", "components": []})
    build = roost.Build(server.client, {"id": "build_1"})
    assert build.sbom() == {"bomFormat": "CycloneDX", "components": []}


def test_refresh(server: Server) -> None:
    server.on("GET", "/builder-jobs/bjob_1", builder_job("succeeded"))
    build = roost.BuilderJob(server.client, builder_job("running"))
    assert not build.ended
    assert build.refresh().ended


def test_runtime_and_keys(server: Server) -> None:
    server.on("GET", "/runtime", {"kind": "local", "python_versions": ["3.13"], "default": "3.13"})
    assert server.client.runtime().python_versions == ("3.13",)
    server.on("POST", "/keys", {"id": "key_1", "name": "ci", "role": "read", "key": "k"})
    server.on("DELETE", "/keys/key_1", httpx.Response(204))
    key = server.client.keys.create(name="ci", role="read")
    assert key.key == "k"
    key.delete()


def test_an_id_cannot_leave_its_path(server: Server) -> None:
    with pytest.raises(roost.NotFound):
        server.client.agents.retrieve("../keys")
    assert server.requests[0].url.raw_path == b"/v1/agents/..%2Fkeys"
    with pytest.raises(ValueError, match="empty"):
        server.client.agents.retrieve("")


def test_values_are_what_python_makes_of_them() -> None:
    assert parse_json(b'{"n": 123456789012345678901234567890, "x": 1.10}') == {
        "n": 123456789012345678901234567890,
        "x": 1.1,
    }


@pytest.mark.parametrize(
    ("text", "microsecond"),
    [
        ("2026-11-02T09:00:00Z", 0),
        ("2026-11-02T09:00:00.5Z", 500000),
        ("2026-11-02T09:00:00.123456789+00:00", 123456),
    ],
)
def test_times_may_have_any_fraction(text: str, microsecond: int) -> None:
    time = parse_time(text)
    assert time.microsecond == microsecond
    assert time.utcoffset() == timedelta(0)


def test_a_closed_block_leaves_the_callers_http_client_open() -> None:
    http = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(204)))
    with roost.Client("k", http_client=http):
        pass
    assert not http.is_closed
    http.close()
    with roost.Client("k") as client:
        pass
    assert client._transport._http.is_closed


def test_a_draft_is_a_job_with_its_script(server: Server) -> None:
    server.on("POST", "/agents/agent_1/execute-draft", job(draft=True))
    server.on("GET", "/executor-jobs/xjob_1/draft", {"script": SCRIPT})
    server.on("GET", "/executions", {"data": [], "next_cursor": None})
    submitted = roost.Agent(server.client, agent()).submit({"n": 1}, draft=SCRIPT, priority=2)
    sent = server.sent("POST", "/agents/agent_1/execute-draft")[0]
    assert json.loads(sent.content) == {"payload": {"n": 1}, "script": SCRIPT, "priority": 2}
    assert submitted.draft
    assert submitted.draft_script() == SCRIPT
    list(server.client.executions.list(draft=False))
    assert server.sent("GET", "/executions")[0].url.params["draft"] == "false"
