/** Texts of the page of rollouts. */
export const text = {
  title: "Rollouts",
  start: "Rebuild outdated agents",
  filters: "Filters",
  all: "All rollouts",
  agents: "Agents",
  trigger: "Trigger",
  automatic: "automatic",
  manual: "manual",
  created: "Created",
  finished: "Finished",
  rollout: "Rollout",
  noMatches: "No matching rollouts",
  changeFilters: "Change the filters. The list updates live.",
  none: "No rollouts yet",
  about:
    "A rollout rebuilds outdated agents, a few at a time, after a base image has a new digest, this machine has a newer interpreter, or an upgrade of Roost brings a newer SDK. Rollouts start automatically unless the setting roost.rollouts.automatic is off.",
};
