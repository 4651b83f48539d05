import { plural } from "../../core/format";
import type { Verb } from "../../parts/rollouts/rollouts";

/** Texts of the page of a rollout. */
export const text = {
  title: "Rollout",
  verbs: { pause: "Pause", resume: "Resume", undo: "Undo" } satisfies Record<Verb, string>,
  ofAgents: (n: number) => `of ${plural(n, "agent")}`,
  startedAutomatically: "started automatically",
  startedManually: "started manually",
  finished: "finished",
  pausedByRoost: "Paused by Roost",
  changing: "Pausing, resuming and undoing a rollout",
  filters: "Filters",
  agents: "Agents",
  agentsOf: "Agents of the rollout",
  previousBuild: "Previous build",
  newBuild: "New build",
  changed: "Changed",
  message: "Message",
  noMatches: "No matching agents",
  changeFilters: "Change the filters. The list updates live.",
  noAgents: "No agents",
  noneOutdated: "No agent was outdated when the rollout started.",
};
