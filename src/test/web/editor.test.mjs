import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pythonLanguage } from "@codemirror/lang-python";
import { importMarks, pinMarks } from "../../main/resources/web/app/parts/code/import-checks.ts";
import { mayProvide, packageOf } from "../../main/resources/web/app/parts/code/package-names.ts";
import { NO_CONTEXT } from "../../main/resources/web/app/parts/code/python-context.ts";
import { importsOf } from "../../main/resources/web/app/parts/code/python-imports.ts";
import { expressionBefore, Scope } from "../../main/resources/web/app/parts/code/python-scope.ts";
import { difference } from "../../main/resources/web/app/parts/code/python-tools.ts";
import {
  requirementsIn,
  withRequirement,
} from "../../main/resources/web/app/parts/code/requirement-lines.ts";
import { ruffMarks } from "../../main/resources/web/app/parts/code/ruff-marks.ts";
import { RUFF_VERSION } from "../../main/resources/web/app/parts/code/ruff.ts";

const shown = ({ module, member, name }) => `${module}:${member}:${name}`;

test("imports are read with their members and aliases", () => {
  const script = `import os, os.path as p
import a.b
from bs4 import (
    BeautifulSoup as Soup,  # a comment
    Tag,
)
from . import relative
from x import *
def main(request):
    import late
`;
  assert.deepEqual(importsOf(script).map(shown), [
    "os:null:os",
    "os.path:null:p",
    "a.b:null:a",
    "bs4:BeautifulSoup:Soup",
    "bs4:Tag:Tag",
    "x:*:*",
    "late:null:late",
  ]);
  const soup = importsOf(script)[3];
  assert.deepEqual([soup.line, soup.column, soup.endColumn], [3, 6, 9]);
});

test("imports that a script can do without are marked as such", () => {
  const script = `try:
    import ujson as json
except ImportError:
    import json
if typing.TYPE_CHECKING:
    import pandas
`;
  assert.deepEqual(
    importsOf(script).map(({ module, optional }) => [module, optional]),
    [
      ["ujson", true],
      ["json", true],
      ["pandas", true],
    ],
  );
});

const marksOf = (script, context) => importMarks(importsOf(script), { ...NO_CONTEXT, ...context });

test("an import that nothing provides can be added as its package", () => {
  const versionOf = (name) => (name === "beautifulsoup4" ? "4.13.4" : null);
  assert.deepEqual(marksOf("import json\nfrom bs4 import BeautifulSoup\nimport bs4", { versionOf }), [
    {
      line: 2,
      column: 6,
      endLine: 2,
      endColumn: 9,
      severity: "warning",
      message: "No requirement provides the module “bs4”.",
      fixes: [{ title: "Add beautifulsoup4", requirement: "beautifulsoup4==4.13.4" }],
    },
  ]);
  assert.deepEqual(
    marksOf("import roost, humanize", {}).map(({ fixes }) => fixes[0].requirement),
    ["roost", "humanize=="],
  );
});

test("required and installed packages provide their modules", () => {
  const requirements = "PyYAML==6.0.3\npython-dateutil==2.9.0\ngoogle-cloud-storage==3.0.0\n";
  const script = "import yaml, dateutil.parser, google.cloud.storage\nfrom google.cloud import storage\n";
  assert.deepEqual(marksOf(script, { requirements }), []);
  const installed = [{ name: "certifi", version: "2026.1.1" }];
  assert.deepEqual(marksOf("import certifi", { installed }), []);
});

test("a Build that knows its modules decides, except for packages that it hasn't installed", () => {
  const context = {
    requirements: "requests==2.32.5\nsix==1.17.0\n",
    installed: [{ name: "requests", version: "2.32.5" }],
    modules: ["requests", "certifi"],
  };
  assert.deepEqual(marksOf("import requests, certifi, six", context), []);
  assert.deepEqual(
    marksOf("import urllib3", context).map(({ message }) => message),
    ["No requirement provides the module “urllib3”."],
  );
});

test("modules of other versions of Python are explained", () => {
  const message = (script, python) => marksOf(script, { python })[0]?.message;
  assert.equal(message("import cgi", "3.12"), undefined);
  assert.equal(message("import cgi", "3.13"), "Python 3.13 has no module “cgi”: it was removed in 3.13.");
  assert.equal(
    message("import tomllib", "3.10"),
    "Python 3.10 has no module “tomllib”: it was added in 3.11.",
  );
});

test("packages have names of their own", () => {
  assert.equal(packageOf("PIL.Image"), "pillow");
  assert.equal(packageOf("google.cloud.storage.blob"), "google-cloud-storage");
  assert.equal(packageOf("google.cloud.run_v2"), "google-cloud-run-v2");
  assert.equal(packageOf("azure.mgmt.web"), "azure-mgmt-web");
  assert.equal(packageOf("langchain_core"), "langchain-core");
  assert.ok(mayProvide("langchain-core", "langchain_core.prompts"));
  assert.ok(!mayProvide("requests", "urllib3"));
});

test("requirements are read as they are written", () => {
  const text =
    "# all\nDjango [bcrypt] == 5.2 ; python_version < '4'  # web\nhumanize\nhttpx>=0.27\n--pre\n1 2\n";
  assert.deepEqual(requirementsIn(text), [
    { line: 2, name: "Django", extras: "[bcrypt]", version: "5.2", rest: "; python_version < '4'  # web" },
    { line: 3, name: "humanize", extras: "", version: null, rest: "" },
    { line: 4, name: "httpx", extras: "", version: null, rest: "" },
  ]);
  assert.equal(withRequirement("", "six==1.17.0"), "six==1.17.0\n");
  assert.equal(withRequirement("a==1\n\n", "six==1.17.0"), "a==1\nsix==1.17.0\n");
});

test("a requirement without a version can be pinned", () => {
  const requirements = "roost\nhumanize # nice\nhttpx>=0.27\nunheard\n";
  const versions = { humanize: "4.14.0", httpx: "0.28.1" };
  const marks = pinMarks({ requirements, versionOf: (name) => versions[name] ?? null });
  assert.deepEqual(
    marks.map(({ line, message, fixes }) => [line, message, fixes?.[0].title, fixes?.[0].edits[0].text]),
    [
      [2, "“humanize” has no version. Pin one, for example 4.14.0.", "Pin 4.14.0", "humanize==4.14.0 # nice"],
      [3, "“httpx” has no version. Pin one, for example 0.28.1.", "Pin 0.28.1", "httpx==0.28.1"],
      [4, "“unheard” has no version. Write unheard==<version>.", undefined, undefined],
    ],
  );
  assert.equal(marks[0].fixes[0].edits[0].endColumn, "humanize # nice".length + 1);
});

test("diagnostics of Ruff are remarks with fixes", () => {
  const at = (row, column) => ({ row, column });
  const fix = {
    message: "Remove unused import: `os`",
    edits: [{ content: null, location: at(1, 1), end_location: at(2, 1) }],
  };
  const unused = { code: "F401", message: "`os` imported but unused", start_location: at(1, 8) };
  const undefinedName = { code: "F821", message: "Undefined name `x`", start_location: at(1, 2) };
  assert.deepEqual(
    ruffMarks([
      { ...unused, end_location: at(1, 10), fix },
      { ...undefinedName, end_location: at(1, 3), fix: null },
    ]),
    [
      {
        line: 1,
        column: 2,
        endLine: 1,
        endColumn: 3,
        message: "Undefined name “x”.",
        severity: "error",
        code: "F821",
      },
      {
        line: 1,
        column: 8,
        endLine: 1,
        endColumn: 10,
        message: "“os” imported but unused.",
        severity: "warning",
        code: "F401",
        fixes: [
          {
            title: "Remove unused import os",
            edits: [{ line: 1, column: 1, endLine: 2, endColumn: 1, text: "" }],
          },
        ],
      },
    ],
  );
});

test("the dashboard loads the version of Ruff that packaging brings", () => {
  const script = readFileSync(new URL("../../main/scripts/npm_packages.py", import.meta.url), "utf-8");
  assert.equal(/ruff-wasm-web",\s+version="(.*?)"/.exec(script)[1], RUFF_VERSION);
});

test("formatting changes only the lines that differ", () => {
  assert.deepEqual(difference("a\nb\nc\n", "a\nx\nc\n"), [
    { from: 2, to: 4, insert: "" },
    { from: 4, to: 4, insert: "x\n" },
  ]);
});

test("the expression before the cursor ends at its names and brackets", () => {
  for (const [text, expected] of [
    ["x = store", "store"],
    ["print(request.stores['a)']", "request.stores['a)']"],
    ["a + f(1, [2])", "f(1, [2])"],
    ["x = 12", ""],
    ["x = ", ""],
    ["call(a.b", "a.b"],
    ["(a, b", "b"],
  ]) {
    assert.equal(expressionBefore(text), expected, text);
  }
});

const SCRIPT = `import requests
import os.path
from bs4 import BeautifulSoup as Soup

session = requests.Session()

def helper(answer: requests.Response):
    answer

def main(job, state):
    other = job.stores["b"]
    with state.transaction() as tx, state.lock("a") as lock:
        soup = Soup("…")
        response = session.get("…")
        state.transact(lambda inner: inner)
        pass
`;

const MODULES = {
  requests: [
    { name: "Session", kind: "class", from: "requests.sessions.Session" },
    { name: "Response", kind: "class", from: "requests.models.Response" },
    { name: "get", kind: "function", signature: "(url)", type: "requests.models.Response" },
  ],
  "requests.models": [{ name: "Response", kind: "class", members: [{ name: "json", kind: "method" }] }],
  "requests.sessions": [
    { name: "Mixin", kind: "class", members: [{ name: "resolve", kind: "method" }] },
    {
      name: "Session",
      kind: "class",
      bases: ["requests.sessions.Mixin"],
      members: [{ name: "get", kind: "method", type: "requests.models.Response" }],
    },
  ],
  bs4: [{ name: "BeautifulSoup", kind: "class", members: [{ name: "find", kind: "method" }] }],
};

const scope = new Scope(
  SCRIPT,
  pythonLanguage.parser.parse(SCRIPT),
  async (module) => MODULES[module] ?? null,
);
const at = (text) => SCRIPT.indexOf(text) + text.length;

async function members(expression, place) {
  const found = await scope.membersOf(await scope.typeOf(expression, at(place)));
  return found?.map(({ name }) => name) ?? null;
}

test("main's parameters have the members of the request and of the store", async () => {
  assert.ok((await members("job", "state.transact(")).includes("payload"));
  assert.ok((await members("state", "state.transact(")).includes("increment"));
  assert.ok((await members("other", "state.transact(")).includes("increment"));
  assert.ok((await members("tx", "state.transact(")).includes("versions"));
  assert.deepEqual(await members("lock", "state.transact("), ["held"]);
  assert.ok((await members("inner", "lambda inner: inn")).includes("versions"));
  assert.equal(await members("job", "session = "), null);
});

test("packages have the members that the Build has found", async () => {
  assert.deepEqual(await members("requests", "state.transact("), ["Session", "Response", "get"]);
  assert.deepEqual(await members("session", "state.transact("), ["get", "resolve"]);
  assert.deepEqual(await members("response", "state.transact("), ["json"]);
  assert.deepEqual(await members("requests.get('…')", "state.transact("), ["json"]);
  assert.deepEqual(await members("soup", "state.transact("), ["find"]);
  assert.deepEqual(await members("answer", "    answer"), ["json"]);
  assert.equal(await members("unknown.thing", "state.transact("), null);
});

test("a name is explained where it is known", async () => {
  const symbol = await scope.symbolOf("state.increment", at("state.transact("));
  assert.match(symbol.signature, /^\(key: str, amount/);
  assert.equal((await scope.symbolOf("requests.get", at("state.transact("))).signature, "(url)");
  assert.equal((await scope.symbolOf("Soup", at("state.transact("))).name, "BeautifulSoup");
  assert.equal(await scope.symbolOf("state.unknown", at("state.transact(")), null);
});
