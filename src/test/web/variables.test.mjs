import assert from "node:assert/strict";
import { test } from "node:test";
import { masked, maskedPair } from "../../main/resources/web/app/core/variables.ts";

test("values are masked, names are not", () => {
  assert.equal(masked("A=1\n# B=2=3\nplain\nC=\n"), "A=••••••••\n# B=••••••••\nplain\nC=\n");
});

test("a value that has changed still differs when it is masked", () => {
  assert.deepEqual(maskedPair("A=1\nB=2\nC=3", "A=1\nB=4\nD=3"), [
    "A=••••••••\nB=••••••••\nC=••••••••",
    "A=••••••••\nB=•••••••• (changed)\nD=••••••••",
  ]);
});
