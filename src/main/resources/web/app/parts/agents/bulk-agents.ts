import { html } from "lit";
import { get, type Problem } from "../../core/api";
import { count, plural } from "../../core/format";
import { signedIn } from "../../core/session";
import type { ActionResults, Agent, AgentTags } from "../../core/types";
import { keptPayload, lastPayload, payloadText, submitPayload } from "../executions/payloads";
import { choiceField, mistakesOf, textField } from "../forms/fields";
import { openForm } from "../forms/small-form";
import { act, preview, report, tried } from "../page/actions";
import { confirmAction, toast } from "../page/dialogs";
import { each } from "../page/each";
import type { BulkAction } from "../page/selection";
import { tagsIn } from "./tags";

/** What can be done with several agents; each asks first and shows what it will do. */
export const agentActions = (): BulkAction<Agent>[] => [
  ...(signedIn.may("execute") ? [{ title: "Run", applies: mayRun, run: runAll }] : []),
  ...(signedIn.may("write")
    ? [
        { title: "Add tags", applies: () => true, run: tag },
        { title: "Remove tag", applies: ({ tags }: Agent) => tags.length > 0, run: untag },
        { title: "Pause schedules", applies: () => true, run: pause },
        { title: "Resume schedules", applies: () => true, run: resume },
        { title: "Delete", applies: () => true, run: deleteAll },
      ]
    : []),
];

const actOn = (agents: readonly Agent[], body: Record<string, unknown>): Promise<ActionResults> =>
  act(
    "/agents/actions",
    "agent_ids",
    agents.map(({ id }) => id),
    body,
  );

/** One whose requirements could never be installed has nothing that would run. */
const mayRun = ({ running_revision, activity }: Agent): boolean =>
  running_revision !== null || activity?.builder_job?.state !== "failed";

async function runAll(agents: Agent[]): Promise<boolean> {
  const payloads = await Promise.all(
    agents.map(({ id }) => lastPayload(id, Infinity).catch(() => keptPayload(id) ?? "")),
  );
  const sure = await confirmAction({
    title: `Run ${plural(agents.length, "agent")}?`,
    body: html`<ul class="preview">
      ${agents.map(
        ({ name }, i) => html`<li>${name} <span class="faint">${payloadText(payloads[i]!)}</span></li>`,
      )}
    </ul>`,
    confirm: `Run ${count(agents.length)}`,
  });
  if (sure) {
    const failed = await each(agents, (agent, i) => submitPayload(agent.id, payloads[i]!));
    toast(
      failed.length
        ? `${count(failed.length)} of ${plural(agents.length, "run")} not queued: ${failed[0]}`
        : `${plural(agents.length, "run")} queued.`,
      { failed: failed.length > 0, ...(failed.length ? {} : { link: ["View executions", "/executions"] }) },
    );
  }
  return sure;
}

const names = (agents: readonly Agent[]): unknown =>
  html`<ul class="preview" aria-label="Agents">
    ${agents.map(({ name }) => html`<li>${name}</li>`)}
  </ul>`;

/** The agents that were changed, with which an action can be undone. */
const changedOf = (agents: readonly Agent[], { results }: ActionResults): Agent[] => {
  const ids = new Set(results.filter(({ changed }) => changed).map(({ id }) => id));
  return agents.filter(({ id }) => ids.has(id));
};

async function tag(agents: Agent[]): Promise<boolean> {
  const known = await get<AgentTags>("/agents/tags").catch(() => null);
  const done = await openForm({
    title: `Add tags to ${plural(agents.length, "agent")}`,
    draft: { text: "" },
    fields: ({ text }, take, problem: Problem | null) =>
      html`${textField({
          id: "bulk-tags",
          label: "Tags",
          value: text,
          hint: "Separated by commas or spaces, for example billing, team/crawlers.",
          list: "known-tags",
          mistakes: mistakesOf(problem, "/tags"),
          change: (next) => take({ text: next }),
        })}
        <datalist id="known-tags">
          ${known?.data.map((each) => html`<option value=${each.tag}></option>`)}
        </datalist>
        ${names(agents)}`,
    pointers: ["/tags"],
    confirm: "Add tags",
    save: ({ text }) =>
      actOn(agents, { action: "tag", tags: tagsIn(text) }).then((found) => ({ found, text })),
  });
  if (!done) {
    return false;
  }
  const tags = tagsIn(done.text);
  const before = new Map(agents.map((agent) => [agent.id, agent.tags]));
  await report(done.found, "agent", "tagged", async () => {
    // Each tag only where it was added.
    for (const each of tags) {
      const added = changedOf(agents, done.found).filter(({ id }) => !before.get(id)!.includes(each));
      await tried(() => actOn(added, { action: "untag", tags: [each] }));
    }
  });
  return true;
}

async function untag(agents: Agent[]): Promise<boolean> {
  const all = [...new Set(agents.flatMap(({ tags }) => tags))].sort();
  const done = await openForm({
    title: "Remove tag",
    draft: { tag: all[0]! },
    fields: ({ tag: chosen }, take) =>
      html`${choiceField({
        id: "bulk-untag",
        label: "Tag",
        value: chosen,
        choices: all,
        change: (next) => take({ tag: next }),
      })}
      ${names(agents.filter(({ tags }) => tags.includes(chosen)))}`,
    pointers: [],
    confirm: "Remove tag",
    save: ({ tag: chosen }) =>
      actOn(agents, { action: "untag", tags: [chosen] }).then((found) => ({ found, chosen })),
  });
  if (done) {
    await report(done.found, "agent", "changed", () =>
      tried(() => actOn(changedOf(agents, done.found), { action: "tag", tags: [done.chosen] })),
    );
  }
  return done !== null;
}

const pause = (agents: Agent[]): Promise<boolean> => switchSchedules(agents, "pause_schedules");
const resume = (agents: Agent[]): Promise<boolean> => switchSchedules(agents, "resume_schedules");

type Switch = "pause_schedules" | "resume_schedules";

function switchSchedules(agents: Agent[], action: Switch): Promise<boolean> {
  const [verb, done, other] =
    action === "pause_schedules"
      ? (["Pause", "paused", "resume_schedules"] as const)
      : (["Resume", "resumed", "pause_schedules"] as const);
  const countOf = ({ results }: ActionResults) =>
    results.reduce((sum, { schedule_ids }) => sum + (schedule_ids?.length ?? 0), 0);
  return tried(async () => {
    const expected = await actOn(agents, { action, dry_run: true });
    const total = countOf(expected);
    if (total === 0) {
      toast(`No schedule of ${plural(agents.length, "agent")} can be ${done}.`);
      return false;
    }
    const sure = await confirmAction({
      title: `${verb} ${plural(total, "schedule")} of ${plural(expected.changed, "agent")}?`,
      body: preview(
        expected.results.filter(({ changed, error }) => changed || error),
        ({ schedule_ids }) => plural(schedule_ids?.length ?? 0, "schedule"),
      ),
      confirm: `${verb} schedules`,
    });
    if (sure) {
      const found = await actOn(agents, { action });
      const schedule_ids = found.results.flatMap((result) => result.schedule_ids ?? []);
      await report({ ...found, changed: countOf(found) }, "schedule", done, () =>
        tried(() => actOn(changedOf(agents, found), { action: other, schedule_ids })),
      );
    }
    return sure;
  });
}

function deleteAll(agents: Agent[]): Promise<boolean> {
  return tried(async () => {
    const expected = await actOn(agents, { action: "delete", dry_run: true });
    const sure = await confirmAction({
      title: `Delete ${plural(agents.length, "agent")}?`,
      body: html`<p>
          Cancels their running and queued executions and deletes their schedules. DataStores and the
          execution history are kept. This can't be undone.
        </p>
        ${preview(expected.results, ({ jobs }) => (jobs ? `cancels ${plural(jobs, "job")}` : ""))}`,
      confirm: `Delete ${plural(agents.length, "agent")}`,
      typed: agents.length > 1 ? `delete ${agents.length}` : undefined,
      danger: true,
    });
    if (sure) {
      await report(await actOn(agents, { action: "delete" }), "agent", "deleted");
    }
    return sure;
  });
}
