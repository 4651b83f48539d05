import assert from "node:assert/strict";
import { test } from "node:test";
import {
  packageText,
  preloadNote,
  savingText,
  unknownText,
} from "../../main/resources/web/app/parts/agents/preload-text.ts";

test("many packages are shortened", () => {
  const names = Array.from({ length: 14 }, (_, i) => `p${i}`);
  assert.equal(packageText(["numpy", "pandas"]), "numpy, pandas");
  assert.equal(packageText(names.slice(0, 12)), names.slice(0, 12).join(", "));
  assert.equal(packageText(names), `${names.slice(0, 12).join(", ")} and 2 more`);
  assert.equal(packageText([]), "none");
});

test("what is preloaded has a note where there is something", () => {
  assert.equal(preloadNote({ preloaded: { modules: 1612 } }), "1,612 modules preloaded");
  assert.equal(preloadNote({ preloaded: { modules: 1 } }), "1 module preloaded");
  assert.equal(preloadNote({ preloaded: { modules: 0 } }), "");
  assert.equal(preloadNote({ preloaded: null }), "");
});

test("what preloading saves and costs has units", () => {
  assert.equal(
    savingText({ import_seconds: 0.231, memory_bytes: 48_123_904 }),
    "Each execution saves about 231 ms. The imported modules use 45.9 MiB of memory in each executor.",
  );
});

test("it is said why nothing is known", () => {
  assert.match(unknownText({ preload: "off", running_revision: 1 }), /^Preloading is off/);
  assert.equal(
    unknownText({ preload: "auto", running_revision: 3 }),
    "Known after the first execution of revision 3.",
  );
  assert.match(unknownText({ preload: "auto", running_revision: null }), /waits for the build/);
});
