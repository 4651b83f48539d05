import assert from "node:assert/strict";
import { test } from "node:test";
import { durationTicks, ticks } from "../../main/resources/web/app/parts/charts/ticks.ts";

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

test("lines of durations are at round seconds, minutes and hours", () => {
  const rounded = (highest) => durationTicks(highest).map((seconds) => Number(seconds.toPrecision(6)));
  assert.deepEqual(rounded(0), [0, 0.001]);
  assert.deepEqual(rounded(0.012), [0, 0.005, 0.01, 0.015]);
  assert.deepEqual(rounded(1.7), [0, 0.5, 1, 1.5, 2]);
  assert.deepEqual(rounded(100), [0, 30, 60, 90, 120]);
  assert.deepEqual(rounded(5000), [0, 1800, 3600, 5400]);
  for (const highest of [0.0001, 0.2, 3, 59, 61, 3599, 80_000, 1e6]) {
    const lines = durationTicks(highest);
    assert.ok(lines.at(-1) >= highest, String(highest));
  }
});
