"""The reference of the REST API, from its OpenAPI document."""

import json
import re
import urllib.request
from collections.abc import Iterator

INTRODUCTION = """# The REST API: reference

Every operation with what goes in and what comes out. [The tour](../rest.md) shows them at work; a running Roost serves the
same at `/docs`, and as OpenAPI at `/openapi`. All but signing in and health need `Authorization: Bearer` and an API key, or a
session's cookie and page token.

Every operation may also answer 401 `unauthenticated`, 403 `forbidden`, 429 `rate_limited`, 500 `internal` and 503
`unavailable`; what the others mean is [at the end](#errors).
"""
EVERYWHERE = {"401", "403", "429", "500", "503"}
SCHEMA = r"#/components/schemas/(\w+)"
METHODS = ("get", "post", "put", "patch", "delete")


def page(url: str) -> str:
    """The Markdown page of the server at that URL."""
    with urllib.request.urlopen(f"{url}/openapi?format=json", timeout=30) as answer:
        api = json.load(answer)
    schemas = api["components"]["schemas"]
    pages = {f"#/components/schemas/{name}": schema for name, schema in schemas.items() if _is_page(schema)}
    return "\n".join(_page(_with_pages(api, pages)))


def _with_pages(value: object, pages: "dict[str, dict]") -> object:
    """The document in which a page says of what it is, in place of a schema of its own."""
    if isinstance(value, list):
        return [_with_pages(each, pages) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("$ref") in pages:
        return {"type": "page", "items": pages[value["$ref"]]["properties"]["data"]["items"]}
    return {name: _with_pages(each, pages) for name, each in value.items()}


def _page(api: dict) -> "Iterator[str]":
    yield INTRODUCTION
    for tag in api["tags"]:
        yield f"## {tag['name']}\n"
        if "description" in tag:
            yield f"{tag['description']}.\n"
        for path, operations in api["paths"].items():
            for method in METHODS:
                if tag["name"] in operations.get(method, {}).get("tags", []):
                    yield from _operation(method, path, operations[method])
    yield "## Schemas\n"
    yield 'What Roost answers has every field, unless its description begins with "Only".\n'
    sent = _sent(api)
    for name, schema in sorted(api["components"]["schemas"].items()):
        if not _is_page(schema):
            yield from _schema(name, schema, name in sent)
    yield "## Errors\n"
    yield "| code | status | what it means |\n|---|---|---|"
    for code, response in sorted(api["components"]["responses"].items()):
        example = response["content"]["application/problem+json"].get("example", {})
        yield f"| `{code}` | {example.get('status', '')} | {_cell(response['description'])} |"


def _operation(method: str, path: str, operation: dict) -> "Iterator[str]":
    yield f"### {method.upper()} {path}\n"
    yield operation["summary"] + ".\n"
    if "description" in operation:
        yield operation["description"] + "\n"
    if parameters := operation.get("parameters"):
        yield "| parameter | in | type | |\n|---|---|---|---|"
        for each in sorted(parameters, key=lambda each: (each["in"] != "path", each["in"], each["name"])):
            text = _cell(each.get("description", "") + _bounds(each["schema"]))
            yield f"| `{each['name']}` | {each['in']} | {_type(each['schema'])} | {text} |"
        yield ""
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body, `{media}`: {_type(content.get('schema', {}))}\n"
        for example in content.get("examples", {}).values():
            yield f"```json\n{_json(example['value'])}\n```\n"
    for status, answer in operation["responses"].items():
        if "$ref" not in answer:
            yield f"- {status}{_answer(answer)}"
    codes = {status: answer["$ref"] for status, answer in operation["responses"].items() if "$ref" in answer}
    if errors := [f"{s} `{ref.split('/')[-1]}`" for s, ref in codes.items() if s not in EVERYWHERE]:
        yield f"- errors: {', '.join(errors)}"
    yield ""


def _answer(answer: dict) -> str:
    words = answer.get("description", "")
    types = [_type(content.get("schema", {})) for content in answer.get("content", {}).values()]
    headers = ", ".join(f"`{name}`" for name in answer.get("headers", {}))
    said = [words if words not in ("OK", "Created", "No Content") else "", types[0] if types else ""]
    return "".join(f": {each}" for each in said if each) + (f" (headers {headers})" if headers else "")


def _sent(api: dict) -> "set[str]":
    """The names of the schemas of requests, with what they consist of."""
    bodies = [each.get("requestBody", {}) for path in api["paths"].values() for each in path.values()]
    found: set[str] = set()
    more = set(re.findall(SCHEMA, json.dumps(bodies)))
    while more:
        found |= more
        more = {name for each in more for name in re.findall(SCHEMA, json.dumps(api["components"]["schemas"][each]))}
        more -= found
    return found


def _schema(name: str, schema: dict, is_sent: bool) -> "Iterator[str]":
    yield f"### {name}\n"
    if "description" in schema:
        yield schema["description"] + "\n"
    if "properties" not in schema:
        yield f"Type: {_type(schema)}\n"
        return
    required = schema.get("required", []) if is_sent else []
    yield "| field | type | |\n|---|---|---|"
    for field, value in schema["properties"].items():
        text = ("Required. " if field in required else "") + value.get("description", "") + _bounds(value)
        yield f"| `{field}` | {_type(value)} | {_cell(text)} |"
    yield ""


def _is_page(schema: dict) -> bool:
    return set(schema.get("properties", {})) == {"data", "next_cursor"}


def _type(schema: dict) -> str:
    """What a value is, with a link to its schema."""
    if "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value) if value is None else value}`" for value in schema["enum"])
    kind = schema.get("type", "any JSON")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind in ("array", "page"):
        return f"{kind} of {_type(schema.get('items', {}))}"
    return "time" if schema.get("format") == "date-time" else kind


def _bounds(schema: dict) -> str:
    words = {"minimum": "at least", "maximum": "at most", "maxLength": "characters at most", "default": "by default"}
    said = [f"{text} {json.dumps(schema[key])}" for key, text in words.items() if key in schema]
    return f" ({', '.join(said)})" if said else ""


def _cell(text: str) -> str:
    return text.strip().replace("\n", " ").replace("|", "\\|")


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
