import { text } from "../../text/parts/charts";

/** States of ended executions, their names and colours; from the bottom, those that need no attention first. */
export const OUTCOMES = [
  ["succeeded", text.outcomes.succeeded, "--succeeded"],
  ["cancelled", text.outcomes.cancelled, "--ended"],
  ["lost", text.outcomes.lost, "--accent"],
  ["timed_out", text.outcomes.timed_out, "--waiting"],
  ["failed", text.outcomes.failed, "--failed"],
] as const;
