/** Texts of the page of all builds. */
export const text = {
  title: "Builds",
  filters: "Filters",
  filteredAgent: "Agent:",
  allAgents: "All agents",
  allBuilds: "All builds",
  revision: "Revision",
  python: "Python",
  created: "Created",
  duration: "Duration",
  reused: "reused",
  reusedTitle: "Reuses an earlier build of the same requirements",
  reason: "Reason",
  noMatches: "No matching builds",
  changeFilters: "Change the filters. The list updates live.",
  noBuilds: "No builds yet",
  whenBuilt:
    "When an agent's requirements or Python version change, Roost installs the requirements once, before the agent runs.",
  createAgent: "Create agent",
};
