import { count, plural } from "../../core/format";
import type { Change } from "../../parts/issues/issues";

/** Texts of the page of an issue. */
export const text = {
  title: "Issue",
  changes: { resolve: "Resolve", mute: "Mute", reopen: "Reopen" } satisfies Record<Change, string>,
  runAllAgain: "Run again…",
  failures: (n: number) => plural(n, "failure"),
  firstSeen: "first seen",
  lastSeen: "last seen",
  changing: "Resolving and muting an issue",
  notStored: "The latest failed execution is no longer stored.",
  failedExecutions: "Failed executions",
  runChosenAgain: (jobs: number) => `Run ${plural(jobs, "job")} again…`,
  executions: "Executions of the issue",
  choose: "Choose",
  chooseRun: (job: string) => `Choose run ${job}`,
  execution: "Execution",
  finished: "Finished",
  revision: "Revision",
  run: "Run",
  message: "Message",
  runAgain: "Run again",
  noExecutions: "No executions",
  retention: "They are deleted after the retention period.",
  failuresPerDay: "Failures per day",
  inLastDay: (n: number) => `${count(n)} in 24 hours`,
};
