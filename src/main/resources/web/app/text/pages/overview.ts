import { count } from "../../core/format";

/** Texts of the overview. */
export const text = {
  title: "Overview",
  createAgent: "Create agent",
  storageFull: (message: string) => `Storage is full. ${message}`,
  running: "Running",
  queued: "Queued",
  suspended: "Suspended",
  executors: "Executors",
  executorsOf: (limit: number, working: number) => `of ${count(limit)}, ${working} working`,
  executorsWithPools: (limit: number, working: number, pooled: number) =>
    `of ${count(limit)}, ${working} working, ${pooled} in pools`,
  succeeded: "Succeeded",
  failed: "Failed",
  lastDay: "last 24 hours",
  executionsPerHour: "Executions per hour",
  executionsByState: "Executions per hour by state",
  openIssues: "Open issues",
  newestFirst: "newest first",
  noIssues: "No open issues.",
  firstSeen: "first seen",
  runningNow: "Running now",
  nothingRunning: "Nothing running",
  viewAllRunning: (n: number) => `View all ${count(n)}`,
  failedBuilds: "Failed builds",
  viewBuild: "View build",
};
