import { html } from "lit";

/** Texts of the page of issues. */
export const text = {
  title: "Issues",
  filters: "Filters",
  reason: "Reason",
  anyReason: "Any reason",
  clear: "Clear",
  all: "All issues",
  issue: "Issue",
  since: (reason: string, revision: number) => html`${reason} · since revision ${revision}`,
  sinceAt: (reason: string, place: string, revision: number) =>
    html`${reason} · <code>${place}</code> · since revision ${revision}`,
  failures: "Failures",
  firstSeen: "First seen",
  lastSeen: "Last seen",
  noMatches: "No matching issues",
  changeFilters: "Change the filters. The list updates live.",
  noneOpen: "No open issues",
  sameCause: "Failures with the same cause appear here as one issue.",
};
