/** Texts of the page of executions. */
export const text = {
  title: "Executions",
  filters: "Filters",
  reason: "Reason",
  anyReason: "Any reason",
  time: "Time",
  times: {
    any: "Any time",
    lastHour: "Last hour",
    lastDay: "Last 24 hours",
    lastWeek: "Last 7 days",
    other: "Other",
  },
  orders: {
    newest: "Newest first",
    oldest: "Oldest first",
    longest: "Longest",
    shortest: "Shortest",
  },
  clear: "Clear",
};
