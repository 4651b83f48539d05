import { html, nothing, svg, type TemplateResult } from "lit";
import { post } from "../../core/api";
import { count, plural } from "../../core/format";
import { asProblem } from "../../core/load";
import { router } from "../../core/router";
import type { State } from "../../core/states";
import type { Agent, Outdated, Rollout, RolloutCounts } from "../../core/types";
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
    .map((state) => `${count(counts[state])} ${state}`)
    .join(", ") || "no agents";

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
    ? html`<p>
        ${base === null
          ? html`An earlier version of Roost built its dependencies and did not record the base.`
          : html`Its dependencies were built on <code>${base}</code>.`}
        The current base is <code>${current_base}</code>.
      </p>`
    : nothing}
  ${fixes.length
    ? html`<p>The current base fixes:</p>
        <ul>
          ${fixes.map(
            ({ id, severity, summary }) =>
              html`<li>
                ${[id, severity ? `(${severity})` : "", summary ?? ""].filter(Boolean).join(" ")}
              </li>`,
          )}
        </ul>`
    : nothing}
  ${reasons.includes("sdk")
    ? html`<p>Its dependencies include an earlier version of Roost's SDK.</p>`
    : nothing}`;
}

/** Rebuilds an agent after a confirmation, and opens the rollout. */
export async function rebuild(agent: Pick<Agent, "id" | "name">): Promise<void> {
  await begin(`/agents/${agent.id}/rebuild`, {
    title: `Rebuild ${agent.name}?`,
    body: html`Its dependencies are installed again on the current base. Packages without a pinned version may
    be upgraded. The agent keeps its current build until the new one is ready, and you can undo the rollout.`,
    confirm: "Rebuild agent",
  });
}

/** Rebuilds all outdated agents, likewise. */
export async function startRollout(): Promise<void> {
  await begin("/rollouts", {
    title: "Rebuild all outdated agents?",
    body: html`Agents are rebuilt a few at a time, on the current base with the current SDK. Each keeps its
    current build until the new one is ready, and you can undo the rollout.`,
    confirm: "Start rollout",
  });
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
    pause: {
      title: "Pause the rollout?",
      body: "No further builds start. Builds in progress finish, and are used once you resume the rollout.",
      confirm: "Pause rollout",
    },
    resume: {
      title: "Resume the rollout?",
      body: `${plural(agents.queued + agents.building, "agent")} left to update.`,
      confirm: "Resume rollout",
    },
    undo: {
      title: "Undo the rollout?",
      body: html`${plural(agents.updated, "updated agent returns", "updated agents return")} to the previous
      build, except agents that were deployed since. Roost starts no automatic rollout to the same builds
      afterwards.`,
      confirm: "Undo rollout",
      danger: true,
    },
  };
  if (await confirmAction(questions[verb])) {
    await post(`/rollouts/${id}/${verb}`).catch((e: unknown) =>
      toast(asProblem(e).message, { failed: true }),
    );
  }
}
