import assert from "node:assert/strict";
import { test } from "node:test";
import * as filter from "../../main/resources/web/app/parts/executions/execution-filter.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const query = (text) => {
  const { tokens, mistakes } = filter.parse(text);
  assert.deepEqual(mistakes, []);
  const given = Object.entries(filter.queryOf(tokens, NOW)).filter(([, value]) => value);
  return { ...Object.fromEntries(given), state: filter.valuesOf(tokens, "state").join(",") };
};

test("a filter becomes the API's parameters", () => {
  assert.deepEqual(query("state:failed,timed-out agent:crawl* since:1d reason:timeout"), {
    state: "failed,timed_out",
    agent: "crawl*",
    started_after: "2026-11-20T12:00:00.000Z",
    reason: "deadline_exceeded",
  });
  assert.deepEqual(query("billing sync before:2026-11-01T00:00:00Z revision:7"), {
    state: "",
    agent: "billing sync",
    started_before: "2026-11-01T00:00:00.000Z",
    agent_revision: "7",
  });
  assert.deepEqual(query('state:failed state:lost agent:"news crawl"'), {
    state: "failed,lost",
    agent: "news crawl",
  });
  assert.deepEqual(query("draft:no"), { state: "", draft: "false" });
  assert.deepEqual(query("agent:"), { state: "" }, "its value is still to come");
});

test("mistakes are reported", () => {
  const mistake = (text) => filter.parse(text).mistakes[0] ?? "";
  assert.match(mistake("owner:me"), /no filter owner/);
  assert.match(mistake("state:runing"), /No state is called “runing”/);
  assert.match(mistake("reason:nothing"), /No reason/);
  assert.match(mistake("since:yesterday"), /7d/);
  assert.match(mistake("revision:last"), /number/);
  assert.match(mistake("draft:maybe"), /No draft/);
});

test("one value is replaced, the others stay", () => {
  const text = 'state:failed agent:"news crawl" report';
  assert.equal(filter.withValue(text, "state", "lost"), 'agent:"news crawl" report state:lost');
  assert.equal(filter.withValue(text, "agent", ""), "state:failed report");
});

test("addresses with a parameter for each key still work", () => {
  const parameters = { state: "failed,lost", hours: "24", agent_id: "agent_1" };
  assert.equal(
    filter.ofAddress((name) => parameters[name] ?? ""),
    "state:failed,lost agent:agent_1 since:24h",
  );
});

test("keys and values are completed", () => {
  const titles = (text, agents = []) => filter.completions(text, agents).map(({ title }) => title);
  const texts = (text, agents = []) => filter.completions(text, agents).map((offer) => offer.text);
  assert.deepEqual(titles("st"), ["state:"]);
  assert.equal(titles("").length, filter.KEYS.length);
  assert.deepEqual(texts("since:1d state:failed,ti"), ["since:1d state:failed,timed_out "]);
  assert.deepEqual(texts("agent:bil", ["billing_sync"]), ["agent:billing_sync "]);
  assert.deepEqual(titles("owner:"), []);
});
