/** Texts of panels that the pages of executions and of jobs share. */
export const text = {
  schedule: "Schedule",
  scheduledFor: "Scheduled for",
  batch: "Batch",
  calledBy: "Called by",
  priority: "Priority",
  concurrencyKey: "Concurrency key",
  payload: "Payload",
  attempts: "Attempts",
};
