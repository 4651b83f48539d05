import { html, nothing, svg, type TemplateResult } from "lit";
import { post } from "../../core/api";
import { asProblem } from "../../core/load";
import { router } from "../../core/router";
import type { State } from "../../core/states";
import type { Agent, Outdated, Rollout, RolloutCounts } from "../../core/types";
import { text } from "../../text/parts/rollouts";
import { confirmAction, toast, type Confirmation } from "../page/dialogs";

/** Views of rollouts and actions on them, for more than one page. */

/** In the order of the bar. */
const BAR: readonly State<"RolloutAgent">[] = [
  "updated",
  "failed",
  "skipped",
  "undone",
  "building",
  "queued",
];

/** Whether it is in progress; an undone rollout still has to revert its agents. */
export const goesOn = ({ state, agents }: Rollout): boolean =>
  state === "running" || (state === "undone" && agents.queued + agents.building + agents.updated > 0);

/** "4 updated, 1 failed, 2 queued". */
export const countsText = (counts: RolloutCounts): string =>
  BAR.filter((state) => counts[state])
    .map((state) => text.counts[state](counts[state]))
    .join(", ") || text.noAgents;

/** The progress as a bar, with a segment for each state. */
export function rolloutBar(counts: RolloutCounts): unknown {
  if (counts.total === 0) {
    return nothing;
  }
  let before = 0;
  const parts = BAR.filter((state) => counts[state]).map((state) => {
    const x = before;
    before += counts[state];
    return svg`<rect class=${state} x=${x} y="0" width=${counts[state]} height="1"></rect>`;
  });
  return html`<svg
    class="rollout-bar"
    viewBox="0 0 ${counts.total} 1"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${parts}
  </svg>`;
}

/** What an outdated agent was built on, and what is newer. */
export function outdatedText({ reasons, base, current_base, fixes }: Outdated): TemplateResult {
  return html`${reasons.includes("base")
    ? html`<p>${base === null ? text.unknownBase : text.builtOn(base)} ${text.currentBase(current_base)}</p>`
    : nothing}
  ${fixes.length
    ? html`<p>${text.fixes}</p>
        <ul>
          ${fixes.map(
            ({ id, severity, summary }) =>
              html`<li>
                ${[id, severity ? `(${severity})` : "", summary ?? ""].filter(Boolean).join(" ")}
              </li>`,
          )}
        </ul>`
    : nothing}
  ${reasons.includes("sdk") ? html`<p>${text.earlierSdk}</p>` : nothing}`;
}

/** Rebuilds an agent after a confirmation, and opens the rollout. */
export async function rebuild(agent: Pick<Agent, "id" | "name">): Promise<void> {
  await begin(`/agents/${agent.id}/rebuild`, {
    title: text.rebuild.title(agent.name),
    body: text.rebuild.body,
    confirm: text.rebuild.confirm,
  });
}

/** Rebuilds all outdated agents, likewise. */
export async function startRollout(): Promise<void> {
  await begin("/rollouts", text.start);
}

async function begin(path: string, question: Confirmation): Promise<void> {
  if (await confirmAction(question)) {
    try {
      const rollout = await post<Rollout>(path, {});
      await router.go(`/rollouts/${rollout.id}`);
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
  }
}

/** What can be done with a rollout, by the verb of the API. */
export type Verb = "pause" | "resume" | "undo";

/** Does it after a confirmation. */
export async function change({ id, agents }: Rollout, verb: Verb): Promise<void> {
  const questions: Record<Verb, Confirmation> = {
    pause: text.pause,
    resume: {
      ...text.resume,
      body: text.resume.body(agents.queued + agents.building),
    },
    undo: {
      ...text.undo,
      body: text.undo.body(agents.updated),
      danger: true,
    },
  };
  if (await confirmAction(questions[verb])) {
    await post(`/rollouts/${id}/${verb}`).catch((e: unknown) =>
      toast(asProblem(e).message, { failed: true }),
    );
  }
}
