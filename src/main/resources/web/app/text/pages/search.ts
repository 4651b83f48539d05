import { html } from "lit";
import { plural } from "../../core/format";

/** Texts of the search. */
export const text = {
  title: "Search",
  shortcuts: { group: "Search", edit: "Edit the search" },
  words: "Words in logs, errors, payloads and return values",
  example: 'connection "reset by peer" order_id=42 time*',
  search: "Search",
  filters: "Filters",
  where: "Where",
  kinds: {
    any: "Everything",
    logs: "Logs",
    errors: "Errors",
    payloads: "Payloads",
    results: "Return values",
  },
  level: "Level",
  levels: {
    any: "Any level",
    debug: "Debug",
    info: "Info",
    warning: "Warning",
    error: "Error",
  },
  stream: "Stream",
  streams: {
    any: "Any stream",
    stdout: "stdout",
    stderr: "stderr",
    logging: "logging",
    system: "Roost",
  },
  time: "Time",
  times: {
    any: "Any time",
    lastHour: "Last hour",
    lastDay: "Last day",
    lastWeek: "Last 7 days",
    lastMonth: "Last 30 days",
  },
  anyAgent: "Any agent",
  clear: "Clear",
  filling: (time: string) =>
    `The index is being filled after an upgrade: executions that ended before ${time} are not found yet.`,
  searching: "Searching…",
  searchAll: "Search all executions",
  howTo: html`Results have all words, in any order. <code>"Quoted words"</code> follow each other; the last
    word and <code>word*</code> also find longer words.`,
  help: "Help",
  endedEarly: "The search took too long and ended early. Add a rarer word, an agent or a time, or continue.",
  goOn: "Continue",
  noResults: "No results",
  fewerWords: "Use fewer or shorter words, or change the filters.",
  matches: (n: number) => plural(n, "match", "matches"),
  newestMatches: (n: number) => `${plural(n, "match", "matches")}, newest first`,
};
