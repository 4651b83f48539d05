import { html } from "lit";
import { count, plural } from "../../core/format";
import type { Issue } from "../../core/types";

/** Texts about issues. */
export const text = {
  open: (issues: number) => html`${count(issues)}<span class="unseen"> open</span>`,
  regressed: "regressed",
  inFunction: (place: string, name: string) => `${place} in ${name}`,
  /** By the state that an issue has now. */
  changed: {
    open: "Issue reopened.",
    resolved: "Issue resolved.",
    muted: "Issue muted.",
  } satisfies Record<Issue["state"], string>,
  chart: {
    label: (failures: number, days: number, most: number) =>
      `Failures per day: ${plural(failures, "failure")} in ${days} days, at most ${count(most)} a day`,
    ofDay: (day: string, failures: number) => `${day}: ${count(failures)}`,
    today: "today",
  },
  line: {
    title: (line: number) => `Line ${line}`,
    error: "Error",
    ofLatest: (revision: number) => `of the latest failure, revision ${revision}`,
    script: (line: number) => `Script around line ${line}`,
    traceback: "Traceback",
  },
  introduced: {
    title: (revision: number) => `Introduced in revision ${revision}`,
    viewRevision: "View revision",
    notStored: "The revision is no longer stored.",
    first: "The agent's first revision. It has failed like this from the beginning.",
  },
  log: {
    title: "Log",
    last: (entries: number) => `last ${plural(entries, "entry", "entries")} of the latest failure`,
    compare: "Compare with last success",
    compareTitle: "Script, packages, payload and figures beside those of the latest success",
    viewExecution: "View execution",
    end: "End of the log",
    empty: "The log is empty.",
  },
  payloads: {
    title: "Payloads",
    ofLatest: "of the latest failures",
    runEdited: "Run with edited payload",
    payload: "Payload",
    none: "No job is stored.",
  },
  facts: {
    title: "Details",
    firstSeen: "First seen",
    lastSeen: "Last seen",
    place: "Place",
    reason: "Reason",
    revisions: "Revisions",
    failures: (failures: number) => plural(failures, "failure"),
    issue: "Issue",
  },
  replay: {
    none: (leftOut: string) => `No job to run again: ${leftOut}.`,
    noneStored: "No job to run again: the jobs are no longer stored.",
    title: (jobs: number) => `Run ${plural(jobs, "job")} again?`,
    body: "With the agent's running revision and the stored payloads.",
    leftOut: (jobs: string) => `Left out: ${jobs}.`,
    succeeded: (jobs: number) => `${plural(jobs, "job")} succeeded since`,
    pending: (jobs: number) => `${plural(jobs, "job")} queued or running`,
    cancelled: (jobs: number) => `${plural(jobs, "job")} cancelled`,
    oldest: "These are the oldest. Run the others afterwards.",
    confirm: (jobs: number) => (jobs === 1 ? "Run job" : `Run ${count(jobs)} jobs`),
    submitted: (jobs: number) => `${plural(jobs, "job")} submitted.`,
    viewRun: "View run",
    viewExecutions: "View executions",
  },
};
