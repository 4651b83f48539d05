import { html } from "lit";

/** Texts of the page of a job. */
export const text = {
  title: "Run",
  readOnly: "Your API key is read-only.",
  cancel: "Cancel run",
  runAgain: "Run again",
  created: "created",
  waitingFor: "Waiting for",
  queued: "Queued",
  notBefore: (time: unknown) => html`Not before ${time}.`,
  viewRunning: "View running executions",
  failureReason: "Failure reason",
  viewBuilds: "View builds",
  details: "Details",
  createdAt: "Created",
  finishedAt: "Finished",
  after: (duration: string) => `after ${duration}`,
  attempts: "Attempts",
};
