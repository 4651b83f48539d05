/** States of ended executions, their names and colours; from the bottom, those that need no attention first. */
export const OUTCOMES = [
  ["succeeded", "succeeded", "--succeeded"],
  ["cancelled", "cancelled", "--ended"],
  ["lost", "lost", "--accent"],
  ["timed_out", "timed out", "--waiting"],
  ["failed", "failed", "--failed"],
] as const;
