import assert from "node:assert/strict";
import { test } from "node:test";
import * as agents from "../../main/resources/web/app/parts/agents/agent-filter.ts";
import * as executions from "../../main/resources/web/app/parts/executions/execution-filter.ts";
import { hueOf, tagsIn } from "../../main/resources/web/app/parts/agents/tags.ts";

test("words and tags of the search become the API's parameters", () => {
  assert.deepEqual(agents.agentQuery("sync tag:team/x  bill* tag:nightly"), {
    q: "sync bill*",
    tag: "team/x,nightly",
  });
  assert.deepEqual(agents.agentQuery("tag:a,b tag:a tag:"), { q: "", tag: "a,b" });
  assert.deepEqual(agents.agentQuery("mytag:a"), { q: "mytag:a", tag: "" });
});

test("a tag is added once and removed without the rest", () => {
  assert.equal(agents.withTag("sync tag:a", "b", true), "sync tag:a tag:b");
  assert.equal(agents.withTag("sync tag:a", "a", true), "sync tag:a");
  assert.equal(agents.withTag("tag:a sync tag:b", "a", false), "sync tag:b");
});

test("executions are filtered by tags, with completion", () => {
  const { tokens, mistakes } = executions.parse("tag:team/x state:failed tag:env:prod");
  assert.deepEqual(mistakes, []);
  assert.equal(executions.queryOf(tokens, 0).tag, "team/x,env:prod");
  const offers = executions.completions("state:failed tag:te", [], ["billing", "team", "team/x"]);
  assert.deepEqual(
    offers.map(({ text }) => text),
    ["state:failed tag:team ", "state:failed tag:team/x "],
  );
});

test("tags in a text are sorted, once each; tags of one top level have one colour", () => {
  assert.deepEqual(tagsIn(" b, a\nteam/x  a,"), ["a", "b", "team/x"]);
  assert.deepEqual(tagsIn(" , "), []);
  assert.equal(hueOf("team/x"), hueOf("team/y/z"));
  assert.ok(new Set(["crawlers", "billing", "reports", "mail", "search"].map(hueOf)).size > 2);
});
