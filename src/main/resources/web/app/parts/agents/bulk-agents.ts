import { html } from "lit";
import { get, type Problem } from "../../core/api";
import { signedIn } from "../../core/session";
import type { ActionResults, Agent, AgentTags } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/agents";
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
  ...(signedIn.may("execute") ? [{ title: text.bulk.run, applies: mayRun, run: runAll }] : []),
  ...(signedIn.may("write")
    ? [
        { title: text.bulk.addTags, applies: () => true, run: tag },
        { title: text.bulk.removeTag, applies: ({ tags }: Agent) => tags.length > 0, run: untag },
        { title: text.bulk.pauseSchedules, applies: () => true, run: pause },
        { title: text.bulk.resumeSchedules, applies: () => true, run: resume },
        { title: common.delete, applies: () => true, run: deleteAll },
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
    title: text.bulk.runAgents(agents.length),
    body: html`<ul class="preview">
      ${agents.map(
        ({ name }, i) => html`<li>${name} <span class="faint">${payloadText(payloads[i]!)}</span></li>`,
      )}
    </ul>`,
    confirm: text.bulk.confirmRun(agents.length),
  });
  if (sure) {
    const failed = await each(agents, (agent, i) => submitPayload(agent.id, payloads[i]!));
    toast(
      failed.length
        ? text.bulk.notQueued(failed.length, agents.length, failed[0]!)
        : text.bulk.queued(agents.length),
      {
        failed: failed.length > 0,
        ...(failed.length ? {} : { link: [text.bulk.viewExecutions, "/executions"] }),
      },
    );
  }
  return sure;
}

const names = (agents: readonly Agent[]): unknown =>
  html`<ul class="preview" aria-label=${text.bulk.agents}>
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
    title: text.bulk.addTagsTo(agents.length),
    draft: { tags: "" },
    fields: ({ tags }, take, problem: Problem | null) =>
      html`${textField({
          id: "bulk-tags",
          label: text.bulk.tags,
          value: tags,
          hint: text.bulk.tagsHint,
          list: "known-tags",
          mistakes: mistakesOf(problem, "/tags"),
          change: (next) => take({ tags: next }),
        })}
        <datalist id="known-tags">
          ${known?.data.map((each) => html`<option value=${each.tag}></option>`)}
        </datalist>
        ${names(agents)}`,
    pointers: ["/tags"],
    confirm: text.bulk.addTags,
    save: ({ tags }) =>
      actOn(agents, { action: "tag", tags: tagsIn(tags) }).then((found) => ({ found, tags: tagsIn(tags) })),
  });
  if (!done) {
    return false;
  }
  const before = new Map(agents.map((agent) => [agent.id, agent.tags]));
  await report(done.found, text.bulk.tagged, async () => {
    // Each tag only where it was added.
    for (const each of done.tags) {
      const added = changedOf(agents, done.found).filter(({ id }) => !before.get(id)!.includes(each));
      await tried(() => actOn(added, { action: "untag", tags: [each] }));
    }
  });
  return true;
}

async function untag(agents: Agent[]): Promise<boolean> {
  const all = [...new Set(agents.flatMap(({ tags }) => tags))].sort();
  const done = await openForm({
    title: text.bulk.removeTag,
    draft: { tag: all[0]! },
    fields: ({ tag: chosen }, take) =>
      html`${choiceField({
        id: "bulk-untag",
        label: text.bulk.tag,
        value: chosen,
        choices: all,
        change: (next) => take({ tag: next }),
      })}
      ${names(agents.filter(({ tags }) => tags.includes(chosen)))}`,
    pointers: [],
    confirm: text.bulk.removeTag,
    save: ({ tag: chosen }) =>
      actOn(agents, { action: "untag", tags: [chosen] }).then((found) => ({ found, chosen })),
  });
  if (done) {
    await report(done.found, text.bulk.changed, () =>
      tried(() => actOn(changedOf(agents, done.found), { action: "tag", tags: [done.chosen] })),
    );
  }
  return done !== null;
}

const pause = (agents: Agent[]): Promise<boolean> => switchSchedules(agents, "pause_schedules");
const resume = (agents: Agent[]): Promise<boolean> => switchSchedules(agents, "resume_schedules");

type Switch = "pause_schedules" | "resume_schedules";

function switchSchedules(agents: Agent[], action: Switch): Promise<boolean> {
  const other: Switch = action === "pause_schedules" ? "resume_schedules" : "pause_schedules";
  const { none, title, confirm, ...words } = text.switches[action];
  const countOf = ({ results }: ActionResults) =>
    results.reduce((sum, { schedule_ids }) => sum + (schedule_ids?.length ?? 0), 0);
  return tried(async () => {
    const expected = await actOn(agents, { action, dry_run: true });
    const total = countOf(expected);
    if (total === 0) {
      toast(none(agents.length));
      return false;
    }
    const sure = await confirmAction({
      title: title(total, expected.changed),
      body: preview(
        expected.results.filter(({ changed, error }) => changed || error),
        ({ schedule_ids }) => text.bulk.schedules(schedule_ids?.length ?? 0),
      ),
      confirm,
    });
    if (sure) {
      const found = await actOn(agents, { action });
      const schedule_ids = found.results.flatMap((result) => result.schedule_ids ?? []);
      await report({ ...found, changed: countOf(found) }, words, () =>
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
      title: text.bulk.deleteAgents(agents.length),
      body: html`<p>${text.bulk.deletes}</p>
        ${preview(expected.results, ({ jobs }) => (jobs ? text.bulk.cancelsJobs(jobs) : ""))}`,
      confirm: text.bulk.confirmDelete(agents.length),
      typed: agents.length > 1 ? text.bulk.typeDelete(agents.length) : undefined,
      danger: true,
    });
    if (sure) {
      await report(await actOn(agents, { action: "delete" }), text.bulk.deleted);
    }
    return sure;
  });
}
