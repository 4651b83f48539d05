import assert from "node:assert/strict";
import { test } from "node:test";
import { instantOf, knownZone, wallTime } from "../../main/resources/web/app/core/zones.ts";

test("a time of a zone's clock and its instant", () => {
  const times = [
    ["2026-07-01 09:00", "Europe/Berlin", "2026-07-01T07:00:00.000Z"],
    ["2026-12-01 09:00:30", "Europe/Berlin", "2026-12-01T08:00:30.000Z"],
    ["2026-12-01 00:15", "Asia/Kolkata", "2026-11-30T18:45:00.000Z"],
    ["2026-12-31 23:59", "America/New_York", "2027-01-01T04:59:00.000Z"],
    ["2026-02-28 12:00", "UTC", "2026-02-28T12:00:00.000Z"],
  ];
  for (const [text, zone, instant] of times) {
    assert.equal(instantOf(text, zone), instant);
    assert.equal(wallTime(instant, zone), text);
  }
});

test("clocks that are set forward or back", () => {
  assert.equal(
    instantOf("2026-10-25 02:30", "Europe/Berlin"),
    "2026-10-25T00:30:00.000Z",
    "the first of two",
  );
  assert.equal(
    instantOf("2026-03-29 02:30", "Europe/Berlin"),
    "2026-03-29T01:30:00.000Z",
    "03:30 on the clock",
  );
  assert.equal(instantOf("2026-11-01 01:30", "America/New_York"), "2026-11-01T05:30:00.000Z");
});

test("what is no time has no instant", () => {
  for (const text of [
    "",
    "tomorrow",
    "2026-02-30 09:00",
    "2026-02-03",
    "2026-02-03 24:00",
    "2026-13-03 09:00",
  ]) {
    assert.equal(instantOf(text, "UTC"), null, text);
  }
});

test("a zone that this browser does not know is replaced by UTC", () => {
  assert.equal(knownZone("Asia/Tokyo"), "Asia/Tokyo");
  assert.equal(knownZone("Asia/Tok"), "UTC");
  assert.equal(knownZone(""), "UTC");
});
