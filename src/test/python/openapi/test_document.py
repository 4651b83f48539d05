"""The document is valid, and complete by the rules that Redocly and Spectral recommend."""

import re
import runpy
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator

STATES = Path(__file__).resolve().parents[4] / "sdk/python/src/roost/_states.py"
METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")


def operations(document: "dict[str, Any]") -> "Iterator[tuple[str, dict[str, Any]]]":
    for path, item in document["paths"].items():
        assert set(item) <= set(METHODS), path
        for method, operation in item.items():
            yield f"{method.upper()} {path}", operation


def resolved(document: "dict[str, Any]", node: "dict[str, Any]") -> "dict[str, Any]":
    while "$ref" in node:
        target: Any = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def test_the_document_is_valid(document):
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


# Of YAML 1.2; in YAML 1.1, 22:00 is a number to the base 60.
INTEGER = re.compile("[-+]?[0-9]+$|0o[0-7]+$|0x[0-9a-fA-F]+$")


class Yaml12(yaml.SafeLoader):
    """In YAML 1.2, which OpenAPI uses, what looks like a time is a string."""

    yaml_implicit_resolvers = {
        first: [
            (tag, INTEGER if tag.endswith(":int") else pattern)
            for tag, pattern in resolvers
            if not tag.endswith(":timestamp")
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def test_yaml_says_the_same(live, document):
    with urllib.request.urlopen(f"{live.url}/openapi", timeout=120) as answer:
        assert yaml.load(answer.read(), Yaml12) == document


def test_the_document_says_whose_it_is_and_where(document):
    assert all(document["info"].get(field) for field in ("title", "version", "description", "license"))
    assert [server["url"] for server in document["servers"]] == ["/"]
    assert document["security"]


def test_every_tag_is_described_and_used(document):
    described = [tag["name"] for tag in document["tags"] if tag.get("description")]
    used = {tag for _, operation in operations(document) for tag in operation["tags"]}
    assert sorted(described) == sorted(used)


def test_every_operation_has_one_name_of_its_own(document):
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(names) == len(set(names))
    assert [name for name in names if not re.fullmatch("[a-z][A-Za-z]+", name)] == []


def test_every_operation_has_a_summary_and_says_how_it_succeeds_and_fails(document):
    for name, operation in operations(document):
        assert operation["summary"] and not operation["summary"].endswith("."), name
        assert any(status.startswith("2") for status in operation["responses"]), name
        assert any(status.startswith("4") for status in operation["responses"]), name


def test_every_response_is_described(document):
    silent = [
        f"{name} {status}"
        for name, operation in operations(document)
        for status, response in operation["responses"].items()
        if not resolved(document, response).get("description")
    ]
    assert silent == []


def test_every_parameter_is_described_and_is_of_its_path(document):
    for name, operation in operations(document):
        parameters = operation.get("parameters", [])
        keys = [(parameter["in"], parameter["name"]) for parameter in parameters]
        assert len(keys) == len(set(keys)), name
        in_path = {parameter for place, parameter in keys if place == "path"}
        assert in_path == set(re.findall("{([^}]+)}", name)), name
        for parameter in parameters:
            assert parameter.get("description") and parameter.get("schema"), f"{name} {parameter['name']}"
            assert parameter.get("required") or parameter["in"] != "path", f"{name} {parameter['name']}"


def test_every_body_has_a_schema_and_requests_allow_only_what_they_describe(document):
    for name, operation in operations(document):
        body = operation.get("requestBody")
        assert body is None or all(media.get("schema") for media in body["content"].values()), name
    for name, schema in document["components"]["schemas"].items():
        if name.endswith("Request"):
            assert schema["additionalProperties"] is False, name


def test_every_example_fits_its_schema(document):
    """Of bodies and of properties."""
    checked = 0
    for name, operation in operations(document):
        contents = [operation.get("requestBody", {}), *operation["responses"].values()]
        for content in (resolved(document, part).get("content", {}) for part in contents):
            for media in content.values():
                examples = [example["value"] for example in media.get("examples", {}).values()]
                examples += [media["example"]] if "example" in media else []
                for example in examples:
                    validate(document, media["schema"], example, name)
                    checked += 1
    for name, schema in document["components"]["schemas"].items():
        for field, value in schema.get("properties", {}).items():
            for example in value.get("examples", []):
                validate(document, value, example, f"{name}.{field}")
                checked += 1
    assert checked > 100


def validate(document: "dict[str, Any]", schema: "dict[str, Any]", example: Any, where: str) -> None:
    whole = {**schema, "components": document["components"]}
    mistakes = [error.message for error in jsonschema.Draft202012Validator(whole).iter_errors(example)]
    assert mistakes == [], where


def test_every_schema_is_used(document):
    used = set(re.findall("#/components/schemas/([A-Za-z]+)", str(document)))
    assert set(document["components"]["schemas"]) - used == set()


def test_the_sdk_has_the_same_states(document):
    sdk = runpy.run_path(str(STATES))
    states = {name: sorted(get_args(sdk[name])) for name in sdk["__all__"]}
    documented = {name: sorted(schema.get("enum", [])) for name, schema in document["components"]["schemas"].items()}
    assert states == {name: documented.get(name) for name in states}
    assert [name for name in documented if name.endswith("State") and name not in states] == []
