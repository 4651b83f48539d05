import assert from "node:assert/strict";
import { test } from "node:test";
import { draft, keepDraft } from "../../main/resources/web/app/core/drafts.ts";

const kept = new Map();
globalThis.localStorage = {
  getItem: (key) => kept.get(key) ?? null,
  setItem: (key, value) => kept.set(key, value),
  removeItem: (key) => kept.delete(key),
};

test("a draft holds no values of variables", () => {
  const code = { script: "def main(): pass", env_vars: "TOKEN=hush" };
  keepDraft("agent:agent_1", { code, base: code, revision: 3 });
  assert.doesNotMatch([...kept.values()].join(), /hush/);
  assert.deepEqual(draft("agent:agent_1").code, { script: "def main(): pass" });
});

test("values in a draft of an earlier version are not read", () => {
  kept.set("roost-draft:create", '{"name": "a", "code": {"script": "", "env_vars": "TOKEN=hush"}}');
  assert.deepEqual(draft("create"), { name: "a", code: { script: "" } });
});
