import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { STATES } from "../../main/resources/web/app/core/states.ts";

// Generated from the OpenAPI document; the tests of the documentation keep it up to date.
const REFERENCE = readFileSync(new URL("../../../docs/reference/rest.md", import.meta.url), "utf8");

for (const [resource, states] of Object.entries(STATES)) {
  test(`the dashboard and the API have the same states of ${resource}`, () => {
    const schema = REFERENCE.split(`\n### ${resource}State\n`)[1]?.split(/\n##+ /)[0] ?? "";
    const documented = [...schema.matchAll(/`(\w+)`/g)].map(([, state]) => state);
    assert.deepEqual([...states].sort(), documented.sort());
  });
}
