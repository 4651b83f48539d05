import assert from "node:assert/strict";
import { test } from "node:test";
import { sources, texts, textsOf } from "./app-texts.mjs";

const found = (source) => texts("example.ts", source).map(([, text]) => text);

test("texts are found in markup, in attributes that are read, and in strings", () => {
  assert.deepEqual(found('html`<p class="Big one" title=${x} aria-label="Name ${x}">Two words</p>`'), [
    "Name ${}",
    "Two words",
  ]);
  assert.deepEqual(found('const title = "Resolve", key = "Escape", kind = "agent-link";'), ["Resolve"]);
  assert.deepEqual(found("toast(`Run ${id} was cancelled.`); plural(n, word);"), [
    "Run ${} was cancelled.",
    "plural(n, word)",
  ]);
  assert.deepEqual(found("html`${a} <b>${b}</b> ${plain`x`} · ${html`<i>x1y</i>`}`"), []);
});

test("every text of the dashboard is below text", () => {
  assert.ok(sources().length > 100);
  const elsewhere = sources().flatMap((path) =>
    textsOf(path).map(([line, text]) => `${path}:${line}: ${text}`),
  );
  assert.deepEqual(elsewhere, []);
});
