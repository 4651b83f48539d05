import assert from "node:assert/strict";
import { test } from "node:test";
import { suggestedToolName } from "../../main/resources/web/app/parts/agents/tool-name.ts";

test("an agent's name suggests the name of its tool", () => {
  assert.equal(suggestedToolName("weather-forecast"), "weather-forecast");
  assert.equal(suggestedToolName("Täglicher Bericht (neu)"), "Taglicher_Bericht_neu");
  assert.equal(suggestedToolName("a".repeat(63) + " b"), "a".repeat(63));
  assert.equal(suggestedToolName("天気"), "");
});

test("a reserved name isn't suggested", () => {
  assert.equal(suggestedToolName("roost report"), "report");
  assert.equal(suggestedToolName(" roost_roost_report"), "report");
  assert.equal(suggestedToolName("roost"), "roost");
});
