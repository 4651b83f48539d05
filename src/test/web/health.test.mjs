import assert from "node:assert/strict";
import { test } from "node:test";
import { health } from "../../main/resources/web/app/parts/agents/health.ts";

const after = (...states) => Object.values(health(states.map((state) => ({ state }))));

test("an agent is as well as its latest executions", () => {
  assert.deepEqual(after(), ["none", "no runs yet"]);
  assert.deepEqual(after("succeeded"), ["succeeded", "last run succeeded"]);
  assert.deepEqual(after("lost"), ["failed", "last run failed"]);
  assert.deepEqual(after(...Array(20).fill("failed")), ["failed", "last 20 runs: 20 failed"]);
  assert.deepEqual(after("succeeded", "succeeded"), ["succeeded", "last 2 runs: all succeeded"]);
  assert.deepEqual(after("timed_out", "succeeded", "succeeded"), ["failed", "last 3 runs: 1 failed"]);
  assert.deepEqual(after("succeeded", "failed", "failed"), ["none", "last 3 runs: 2 failed"]);
});
