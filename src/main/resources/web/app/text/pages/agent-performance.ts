import { html } from "lit";
import { bytes, count, duration } from "../../core/format";

/** Texts of the page of an agent's performance. */
export const text = {
  period: "Period",
  lastDay: "Last 24 hours",
  lastWeek: "Last 7 days",
  lastMonth: "Last 30 days",
  viewExecutions: "View executions",
  noExecutions: "No executions ended in this time",
  afterRun: "Success rate, durations and memory appear here as soon as the agent has run.",
  incomplete: "So many executions ended that only the latest are counted.",
  successRate: "Success rate",
  percent: (share: number) => `${share} %`,
  succeeded: (succeeded: number, ended: number) => `${count(succeeded)} of ${count(ended)}`,
  medianDuration: "Median duration",
  percentile95: "95th percentile",
  short95: (seconds: number) => `95th ${duration(seconds)}`,
  short99: (seconds: number) => `99th ${duration(seconds)}`,
  waits: "Wait in the queue",
  coldStarts: "Cold starts",
  ofExecutions: (executions: number) => `of ${count(executions)}`,
  peakMemory: "Peak memory",
  ofMemory: (limit: number) => `of ${bytes(limit)}`,
  openIssues: "Open issues",
  outcomes: "Outcomes",
  firstRuns: "r: a revision's first run",
  revision: (revision: number) => `r${revision}`,
  byOutcome: "Executions by outcome",
  durations: html`Duration <span class="faint">without the wait in the queue</span>`,
  durationsLabel: "Duration of executions",
  median: "median",
};
