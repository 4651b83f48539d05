import { html } from "lit";
import { count, plural } from "../../core/format";
import type { State } from "../../core/states";

/** Texts about rollouts. */
export const text = {
  /** How many agents of a rollout are in a state. */
  counts: {
    updated: (agents: number) => `${count(agents)} updated`,
    failed: (agents: number) => `${count(agents)} failed`,
    skipped: (agents: number) => `${count(agents)} skipped`,
    undone: (agents: number) => `${count(agents)} undone`,
    building: (agents: number) => `${count(agents)} building`,
    queued: (agents: number) => `${count(agents)} queued`,
  } satisfies Record<State<"RolloutAgent">, (agents: number) => string>,
  noAgents: "no agents",
  unknownBase: "An earlier version of Roost built its dependencies and did not record the base.",
  builtOn: (base: string) => html`Its dependencies were built on <code>${base}</code>.`,
  currentBase: (base: string) => html`The current base is <code>${base}</code>.`,
  fixes: "The current base fixes:",
  earlierSdk: "Its dependencies include an earlier version of Roost's SDK.",
  rebuild: {
    title: (agent: string) => `Rebuild ${agent}?`,
    body: "Its dependencies are installed again on the current base. Packages without a pinned version may be upgraded. The agent keeps its current build until the new one is ready, and you can undo the rollout.",
    confirm: "Rebuild agent",
  },
  start: {
    title: "Rebuild all outdated agents?",
    body: "Agents are rebuilt a few at a time, on the current base with the current SDK. Each keeps its current build until the new one is ready, and you can undo the rollout.",
    confirm: "Start rollout",
  },
  pause: {
    title: "Pause the rollout?",
    body: "No further builds start. Builds in progress finish, and are used once you resume the rollout.",
    confirm: "Pause rollout",
  },
  resume: {
    title: "Resume the rollout?",
    body: (agents: number) => `${plural(agents, "agent")} left to update.`,
    confirm: "Resume rollout",
  },
  undo: {
    title: "Undo the rollout?",
    body: (agents: number) =>
      `${plural(agents, "updated agent returns", "updated agents return")} to the previous build, except agents that were deployed since. Roost starts no automatic rollout to the same builds afterwards.`,
    confirm: "Undo rollout",
  },
};
