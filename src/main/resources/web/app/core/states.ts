import { text } from "../text/core";
import { words } from "./format";

/** The states that the API knows, by resource, in the order in which filters offer them. */
export const STATES = {
  BuilderJob: ["queued", "running", "succeeded", "failed", "cancelled"],
  ExecutorJob: ["queued", "running", "suspended", "succeeded", "failed", "cancelled"],
  Execution: ["running", "suspended", "succeeded", "failed", "timed_out", "cancelled", "lost"],
  Step: ["waiting", "succeeded", "failed"],
  Approval: ["pending", "approved", "rejected", "expired", "cancelled"],
  Issue: ["open", "resolved", "muted"],
  Rollout: ["running", "paused", "completed", "undone"],
  RolloutAgent: ["queued", "building", "updated", "failed", "skipped", "undone"],
  Schedule: ["active", "paused"],
  Webhook: ["active", "disabled"],
  Channel: ["active", "disabled"],
  Message: ["pending", "succeeded", "failed", "dropped"],
  Delivery: ["pending", "succeeded", "failed"],
} as const;

/** A state of a resource: State<"Execution"> is "running" | "succeeded" | … */
export type State<R extends keyof typeof STATES> = (typeof STATES)[R][number];

/** Choices of a select that filters by state; "" for all. */
export const stateChoices = (states: readonly string[]): [value: string, label: string][] => [
  ["", text.allStates],
  ...states.map((state): [string, string] => [
    state,
    words(state).replace(/^./, (first) => first.toUpperCase()),
  ]),
];
