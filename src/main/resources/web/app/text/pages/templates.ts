/** Texts of the page of templates. */
export const text = {
  breadcrumb: "Breadcrumb",
  createAgent: "Create agent",
  title: "Templates",
  without: "Start without a template",
  creating: "Creating agents",
  search: "Search templates",
  searchExample: "Search, for example monitoring, pandas or slack",
  shortcuts: { group: "Templates", search: "Search templates" },
  noMatches: "No matching templates",
  noneHas: (words: string) => `No template has all words of “${words}”.`,
  showAll: "Show all templates",
};
