import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import * as api from "../../main/resources/web/app/core/api.ts";
import { ExactNumber, RawJson } from "../../main/resources/web/app/core/types.ts";
import { answers, json, lost, problem, restore } from "./server.mjs";

let turn;

afterEach(() => {
  restore();
  clearInterval(turn);
  mock.timers.reset();
});

/** Lets the pauses between attempts pass at once. */
function hurry() {
  mock.timers.enable({ apis: ["setTimeout"] });
  turn = setInterval(() => mock.timers.tick(2_000), 1);
}

test("numbers whose text would change keep it, there and back", () => {
  const text = '{"a":1.10,"b":123456789012345678901234567890,"c":1,"d":[1e2,-0.0],"e":"1.10"}';
  const value = api.parseExactly(text);
  assert.deepEqual(value.a, new ExactNumber("1.10"));
  assert.equal(value.c, 1);
  assert.equal(api.toJson(value), text);
});

test("only JSON of scripts and users has exact numbers", () => {
  const text =
    '{"timings":{"queued":0.0,"running":9.3E-5},"return_value":{"n":1.10},"data":[{"value":[2.0],"size":1.0}]}';
  assert.deepEqual(api.parseResponse(text), {
    timings: { queued: 0, running: 0.000093 },
    return_value: { n: new ExactNumber("1.10") },
    data: [{ value: [new ExactNumber("2.0")], size: 1 }],
  });
});

test("JSON is written as JSON.stringify does, with and without indent", () => {
  const value = { a: [], b: {}, c: [1, "ü\n", null, true], d: { "": { x: false } }, e: undefined };
  assert.equal(api.toJson(value), JSON.stringify(value));
  assert.equal(api.toJson(value, 2), JSON.stringify(value, null, 2));
  assert.equal(api.toJson({ raw: new RawJson("[1.0]") }), '{"raw":[1.0]}');
});

test("the query leaves out what isn't given", () => {
  const query = { q: "a b&c", limit: 0, name: "", cursor: null, state: undefined, all: false };
  assert.equal(api.url("/agents", query), "/v1/agents?q=a+b%26c&limit=0&all=false");
  assert.equal(api.url("/agents"), "/v1/agents");
});

test("a read that is cut off is sent again", async () => {
  hurry();
  const cutInTheMidst = new Response(
    new ReadableStream({ start: (to) => to.error(new TypeError("network error")) }),
  );
  const sent = answers([lost, () => cutInTheMidst, () => json({ id: "agent_1" }, { ETag: '"3"' })]);
  assert.deepEqual(await api.requestTagged("GET", "/agents/agent_1"), {
    value: { id: "agent_1" },
    tag: '"3"',
  });
  assert.equal(sent.length, 3);
});

test("after four attempts a read says that Roost can't be reached", async () => {
  hurry();
  const sent = answers([lost, lost, lost, lost]);
  await assert.rejects(api.get("/agents"), (e) => e instanceof api.Problem && e.status === 0);
  assert.equal(sent.length, 4);
});

test("a write is sent once, unless it is idempotent", async () => {
  hurry();
  const write = answers([lost]);
  await assert.rejects(api.post("/agents", { name: "a" }), { code: "unreachable" });
  assert.equal(write.length, 1);

  const end = answers([lost, () => new Response(null, { status: 204 })]);
  await api.request("DELETE", "/session", { repeatable: true });
  assert.equal(end.length, 2);

  const order = answers([lost, () => json({ id: "xjob_1" })]);
  assert.deepEqual(await api.post("/agents/agent_1/execute", {}, api.once()), { id: "xjob_1" });
  const [first, second] = order.map(({ headers }) => headers["Idempotency-Key"]);
  assert.match(first, /^[0-9a-f]{32}$/);
  assert.equal(first, second);
  assert.notEqual(api.once()["Idempotency-Key"], first);
});

test("a rejected request is not retried, and its problem names the field", async () => {
  const errors = [{ pointer: "/requirements", line: 3, code: "invalid", detail: "no version" }];
  const sent = answers([() => problem(422, "validation_failed", { errors, request_id: "r1" })]);
  await assert.rejects(api.get("/agents"), (e) => {
    assert.deepEqual([e.status, e.code, e.message, e.requestId], [422, "validation_failed", "Detail.", "r1"]);
    assert.deepEqual(e.of("/requirements"), errors);
    assert.deepEqual(e.of("/require"), []);
    return true;
  });
  assert.equal(sent.length, 1);
});

test("an answer that isn't of the API has a message, too", async () => {
  answers([() => new Response("<html>", { status: 502, statusText: "Bad Gateway" })]);
  await assert.rejects(api.get("/agents"), {
    title: "Bad Gateway",
    detail: "Roost returned status 502.",
  });
});

test("a sign-out is reported, but not by the request for the session", async () => {
  let told = 0;
  api.onSignedOut(() => told++);
  answers([() => problem(401), () => problem(401)]);
  await assert.rejects(api.get("/session"));
  assert.equal(told, 0);
  await assert.rejects(api.get("/agents"));
  assert.equal(told, 1);
});

test("an aborted read does not wait for its retry", async () => {
  const leaving = new AbortController();
  answers([
    () => {
      setTimeout(() => leaving.abort(), 5);
      return lost();
    },
    () => assert.fail("sent after the end"),
  ]);
  await assert.rejects(api.get("/agents", {}, leaving.signal), { name: "AbortError" });
});

test("all pages of a list are read", async () => {
  const sent = answers([
    () => json({ data: [1, 2], next_cursor: "c" }),
    () => json({ data: [3], next_cursor: null }),
  ]);
  assert.deepEqual(await api.all("/schedules", { agent_id: "a" }), [1, 2, 3]);
  assert.equal(sent[1].url, "/v1/schedules?limit=200&agent_id=a&cursor=c");
});

test("a deleted resource is null", async () => {
  answers([() => problem(404), () => problem(500)]);
  assert.equal(await api.kept(api.get("/agents/a")), null);
  await assert.rejects(api.kept(api.get("/agents/a")), { status: 500 });
});
