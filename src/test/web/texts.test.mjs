import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../../main/resources/web/app/core/format.ts";
import { indented, jsonMistake, memberText } from "../../main/resources/web/app/core/json-text.ts";
import { aboutWhole, lineParts } from "../../main/resources/web/app/core/line-parts.ts";
import { text as page } from "../../main/resources/web/app/text/parts/page.ts";
import { text as webhooks } from "../../main/resources/web/app/text/parts/webhooks.ts";
import { router } from "../../main/resources/web/app/core/router.ts";

test("JSON is indented without a change of its tokens", () => {
  const text = '{"a": 1.10, "a": [], "b": [{}, "x, {y}:\\"z\\""], "c": {"d": 1e400}}';
  assert.equal(
    indented(text)
      .replaceAll(/\n\s*/g, " ")
      .replaceAll(/(?<=[{[]) | (?=[}\]])/g, ""),
    text,
  );
  assert.equal(indented('{"a":[1,{"b":[]}]}'), '{\n  "a": [\n    1,\n    {\n      "b": []\n    }\n  ]\n}');
  assert.throws(() => indented("{"), SyntaxError);
});

test("titles of columns within a sentence keep abbreviations", () => {
  assert.deepEqual(["Started", "CPU", "ID", "Max memory"].map(page.tables.sortBy), [
    "Sort by started",
    "Sort by CPU",
    "Sort by ID",
    "Sort by max memory",
  ]);
});

test("an attempt without a response says so", () => {
  assert.equal(webhooks.status(null), "No response");
  assert.equal(webhooks.status(503), "status 503");
});

test("text that is not JSON is reported in words", () => {
  assert.equal(jsonMistake("[1.10]"), null);
  assert.match(jsonMistake(" "), /required/);
  assert.match(jsonMistake("{'a': 1}"), /JSON/);
});

test("a member keeps its exact text", () => {
  const text = '{"id":"x","payload": {"payload": 2, "n": 1.10} ,"data":[{"value": [1 , 2]}]}';
  assert.equal(memberText(text, "payload", 1), '{"payload": 2, "n": 1.10}');
  assert.equal(memberText(text, "value", 3), "[1 , 2]");
  assert.equal(memberText(text, "nothing", 1), null);
});

test("a file is cut at its line feeds", async () => {
  const lines = Array.from({ length: 100 }, (_, i) => `${i}: ${"ü".repeat(i)}`);
  for (const end of ["", "\n"]) {
    const file = new Blob([lines.join("\n") + end]);
    const parts = [];
    for await (const { blob, linesBefore, end: to } of lineParts(file, 300)) {
      parts.push({ text: await blob.text(), linesBefore, to });
    }
    assert.ok(parts.length > 10);
    assert.equal(parts.map(({ text }) => text).join(""), lines.join("\n") + end);
    for (const { text, linesBefore } of parts) {
      assert.equal(text.split("\n")[0], lines[linesBefore]);
    }
    assert.equal(parts.at(-1).to, file.size);
  }
});

test("a line that is longer than a part stays whole", async () => {
  const parts = [];
  for await (const { blob } of lineParts(new Blob(["a".repeat(1000), "\nb\n"]), 64)) {
    parts.push(await blob.text());
  }
  assert.equal(parts[0].split("\n")[0].length, 1000);
});

test("no part comes of an empty file", async () => {
  assert.deepEqual(await Array.fromAsync(lineParts(new Blob([]), 10)), []);
});

test("an error in a line of a part is reported with its line of the file", () => {
  assert.equal(
    aboutWhole("line 17: no. The 10 lines before line 11 are stored.", 2000),
    "line 2017: no. The 2010 lines before line 2011 are stored.",
  );
});

test("figures", () => {
  assert.deepEqual(
    [0.00123, 0.009999, 0.0123, 0.123, 0.9996, 9.996, 99.94, 100, 119.6, 3_599.7, 86_400].map(
      format.duration,
    ),
    [
      "1.23 ms",
      "10.0 ms",
      "12.3 ms",
      "123 ms",
      "1.00 s",
      "10.0 s",
      "99.9 s",
      "1 min 40 s",
      "2 min 0 s",
      "1 h 0 min",
      "24 h 0 min",
    ],
  );
  assert.deepEqual([0, 1023, 1024, 10_239, 1_048_063, 1_048_575, 5 * 2 ** 40].map(format.bytes), [
    "0 B",
    "1023 B",
    "1.00 KiB",
    "10.0 KiB",
    "1023 KiB",
    "1.00 MiB",
    "5.00 TiB",
  ]);
  assert.deepEqual(
    [format.plural(1, "entry", "entries"), format.plural(1234, "agent")],
    ["1 entry", "1,234 agents"],
  );
  assert.deepEqual(["exec_01m81bygkbe0082hsrbz9k89a9", "x_1"].map(format.shortId), ["exec_…9k89a9", "x_1"]);
});

test("times", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const times = { "-0.5": "now", "-59": "59s ago", "-3599": "59m ago", 7200: "in 2h", "-86400": "yesterday" };
  for (const [seconds, told] of Object.entries(times)) {
    assert.equal(format.ago(new Date(now + seconds * 1000).toISOString(), now), told);
  }
});

test("addresses find their pages", () => {
  const routes = ["/", "/agents", "/agents/:id/:tab?"].map((path) => ({ path }));
  const found = (path) => {
    const match = router.match(routes, path);
    return match && [match.route.path, match.parameters];
  };
  assert.deepEqual(found("/"), ["/", {}]);
  assert.deepEqual(found("/agents/"), ["/agents", {}]);
  assert.deepEqual(found("/agents/a%20b"), ["/agents/:id/:tab?", { id: "a b", tab: "" }]);
  assert.deepEqual(found("/agents/a/builds"), ["/agents/:id/:tab?", { id: "a", tab: "builds" }]);
  assert.equal(found("/agents/a/builds/c"), null);
  assert.equal(found("/nothing"), null);
});
