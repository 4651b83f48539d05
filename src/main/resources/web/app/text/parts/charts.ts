import { count } from "../../core/format";

/** Texts of charts. */
export const text = {
  viewAsTable: "View as table",
  none: "none",
  /** How executions ended. */
  outcomes: {
    succeeded: "succeeded",
    cancelled: "cancelled",
    lost: "lost",
    timed_out: "timed out",
    failed: "failed",
  },
  successes: (succeeded: number, failed: number) => `${count(succeeded)} succeeded, ${count(failed)} failed`,
  percent: (percent: number) => `${percent} %`,
};
