import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Problem } from "../../main/resources/web/app/core/api.ts";
import { follow } from "../../main/resources/web/app/core/stream.ts";
import { answers, problem, restore } from "./server.mjs";

afterEach(restore);

/** What a server sends in pieces. */
const stream = (...pieces) =>
  new Response(ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece))));

async function followed(options = {}) {
  const events = [];
  const connections = [];
  await follow("/events", {
    signal: AbortSignal.timeout(60_000),
    onEvent: (event) => events.push(event),
    onConnection: (connection) => connections.push(connection),
    ...options,
  });
  return { events, connections };
}

test("events are reassembled wherever the network has split them", async () => {
  answers([
    () => stream("id: 7\r", "\ndata: on", "e\ndata:two\n", "\n: comment\n\nevent: end\nid: 8\ndata: {}\n\n"),
  ]);
  const { events } = await followed();
  assert.deepEqual(events, [
    { id: "7", type: "message", data: "one\ntwo" },
    { id: "8", type: "end", data: "{}" },
  ]);
});

test("a character of several bytes may be split", async () => {
  const [head, tail] = ["data: ", "\n\nevent: end\ndata: .\n\n"].map((text) =>
    new TextEncoder().encode(text),
  );
  const owl = new TextEncoder().encode("🦉");
  answers([() => new Response(ReadableStream.from([head, owl.slice(0, 2), owl.slice(2), tail]))]);
  assert.equal((await followed()).events[0].data, "🦉");
});

test("an interrupted stream resumes after the last event", async () => {
  const sent = answers([
    () => stream("id: 1\ndata: a\n\n", "id: 2\ndata: half"),
    () => Promise.reject(new TypeError("network error")),
    () => stream("id: 2\ndata: b\n\n", "event: end\ndata: .\n\n"),
  ]);
  const { events, connections } = await followed();
  assert.deepEqual(
    events.map(({ data }) => data),
    ["a", "b", "."],
  );
  assert.deepEqual(
    sent.map(({ headers }) => headers["Last-Event-ID"]),
    [undefined, "1", "1"],
  );
  assert.deepEqual(connections, ["connecting", "open", "lost", "lost", "open"]);
});

test("an end without data is not passed on", async () => {
  answers([() => stream("event: end\nid: 3\n\n")]);
  assert.deepEqual((await followed()).events, []);
});

for (const status of [401, 404, 410]) {
  test(`status ${status} ends the stream, because a retry cannot help`, async () => {
    const sent = answers([() => problem(status)]);
    await assert.rejects(followed(), (e) => e instanceof Problem && e.status === status);
    assert.equal(sent.length, 1);
  });
}

for (const status of [429, 503]) {
  test(`status ${status} is retried`, async () => {
    const sent = answers([() => problem(status), () => stream("event: end\ndata: .\n\n")]);
    await followed();
    assert.equal(sent.length, 2);
  });
}

test("an aborted read ends the stream", { timeout: 60_000 }, async () => {
  const leaving = new AbortController();
  const endless = ({ signal }) =>
    new Response(
      new ReadableStream({
        start(to) {
          to.enqueue(Buffer.from("data: a\n\n"));
          signal.addEventListener("abort", () => to.error(signal.reason));
        },
      }),
    );
  const sent = answers([endless]);
  await followed({ signal: leaving.signal, onEvent: () => leaving.abort() });
  assert.equal(sent.length, 1);
});
