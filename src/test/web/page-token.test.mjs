import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import * as api from "../../main/resources/web/app/core/api.ts";
import { dropPageToken, keepPageToken, pageToken } from "../../main/resources/web/app/core/page-token.ts";
import { follow } from "../../main/resources/web/app/core/stream.ts";
import { answers, json, problem, restore } from "./server.mjs";

const HEADER = "Roost-Page-Token";

afterEach(() => {
  restore();
  mock.restoreAll();
  dropPageToken();
});

test("requests and streams have the page token of the session", async () => {
  keepPageToken("of this session");
  const stopping = new AbortController();
  const end = () => json("event: end\ndata: 1\n\n");
  const sent = answers([() => json({}), end, () => json({})]);
  await api.get("/agents");
  await follow("/events", { signal: stopping.signal, onEvent: () => undefined });
  dropPageToken();
  await api.get("/agents");
  assert.deepEqual(
    sent.map(({ headers }) => headers[HEADER]),
    ["of this session", "of this session", undefined],
  );
  assert.equal(sent[1].headers.Accept, "text/event-stream");
});

test("a request is retried after another tab has signed in", async () => {
  keepPageToken("old");
  const anotherTabSignsIn = () => {
    setTimeout(() => keepPageToken("new"), 10);
    return problem(401, "unauthenticated");
  };
  const sent = answers([anotherTabSignsIn, () => json({ id: "key_1" })]);
  assert.deepEqual(await api.post("/keys", { name: "a" }), { id: "key_1" });
  assert.deepEqual(
    sent.map(({ headers, body }) => [headers[HEADER], body]),
    [
      ["old", '{"name":"a"}'],
      ["new", '{"name":"a"}'],
    ],
  );
});

test("an ended session is reported, and not requested again", async () => {
  keepPageToken("old");
  const sent = answers([() => problem(401, "unauthenticated")]);
  await assert.rejects(api.get("/agents"), (e) => e.status === 401);
  assert.equal(sent.length, 1);
});

test("if the browser's storage is full, the page keeps the token", () => {
  keepPageToken("old");
  mock.method(localStorage, "setItem", () => {
    throw new DOMException("full", "QuotaExceededError");
  });
  keepPageToken("new");
  assert.equal(pageToken(), "new");
});
