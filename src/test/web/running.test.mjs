import assert from "node:assert/strict";
import { test } from "node:test";
import { behindText, revisionNote, whenItRuns } from "../../main/resources/web/app/parts/agents/running.ts";

const agent = (fields) => ({
  revision: 5,
  running_revision: 4,
  build_failure: null,
  latest_builder_job_id: "bjob_5",
  ...fields,
});
const FAILURE = { revision: 5, builder_job_id: "bjob_5", reason: "lost", message: null };

test("a running earlier revision is shown", () => {
  assert.equal(behindText(agent({})), "Revision 5 is building; revision 4 runs until then.");
  assert.equal(
    behindText(agent({ build_failure: FAILURE })),
    "Revision 5 failed to build; revision 4 still runs.",
  );
  assert.equal(behindText(agent({ running_revision: 5 })), null);
  assert.equal(behindText(agent({ running_revision: null, build_failure: FAILURE })), null);
});

test("each revision has its note", () => {
  const notes = (fields) => [5, 4, 3].map((revision) => revisionNote(agent(fields), revision));
  assert.deepEqual(notes({ running_revision: 5 }), ["current", "", ""]);
  assert.deepEqual(notes({}), ["building", "runs now", ""]);
  assert.deepEqual(notes({ build_failure: FAILURE }), ["failed to build", "runs now", ""]);
});

test("a saved revision runs once it is built", async (t) => {
  const states = ["queued", "running", "succeeded", "failed"];
  const fetched = t.mock.method(globalThis, "fetch", async () => Response.json({ state: states.shift() }));
  const saved = agent({});
  assert.equal(await whenItRuns(saved), saved);
  assert.equal(fetched.mock.callCount(), 3);
  assert.equal(await whenItRuns(saved), null);
  assert.match(String(fetched.mock.calls[3].arguments[0]), /builder-jobs\/bjob_5\?wait=20$/);
  const first = agent({ running_revision: null });
  assert.equal(await whenItRuns(first), first);
  assert.equal(fetched.mock.callCount(), 4);
});
