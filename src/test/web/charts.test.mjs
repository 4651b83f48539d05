import assert from "node:assert/strict";
import { test } from "node:test";
import { ticks } from "../../main/resources/web/app/parts/charts/ticks.ts";

test("grid lines are round, whole and reach the highest value", () => {
  assert.deepEqual(ticks(0), [0, 1]);
  assert.deepEqual(ticks(1), [0, 1]);
  assert.deepEqual(ticks(3), [0, 1, 2, 3]);
  assert.deepEqual(ticks(7), [0, 2, 4, 6, 8]);
  assert.deepEqual(ticks(100), [0, 50, 100]);
  assert.deepEqual(ticks(757), [0, 200, 400, 600, 800]);
  for (const highest of [2, 9, 10, 11, 99, 1234, 20_000, 1e9]) {
    const lines = ticks(highest);
    assert.ok(lines.at(-1) >= highest && lines.at(-2) < highest, String(highest));
    assert.ok(lines.length <= 5 && lines.every(Number.isInteger), String(highest));
  }
});
