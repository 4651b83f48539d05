import assert from "node:assert/strict";
import { test } from "node:test";
import { bounded } from "../../main/resources/web/app/core/format.ts";
import { matches, ranked } from "../../main/resources/web/app/core/search.ts";

test("words are found in any order, without regard to case and separators", () => {
  assert.ok(matches("Go to Agents", "agents go"));
  assert.ok(matches("billing_sync.eu", "SYNC bill"));
  assert.ok(matches("billing_sync", "bill*"));
  assert.ok(!matches("billing_sync", "illing*"));
  assert.ok(!matches("billing_sync", "sync export"));
});

test("the best match comes first", () => {
  const found = ["old-sync-job", "resync", "sync-all", "sync"].map((name) => ({ name }));
  assert.deepEqual(
    ranked(found, "Sync").map(({ name }) => name),
    ["sync", "sync-all", "old-sync-job", "resync"],
  );
});

test("a lower bound is marked as such", () => {
  assert.equal(bounded({ count: 1240, more: false }), "1,240");
  assert.equal(bounded({ count: 10_000, more: true }), "10,000+");
});
