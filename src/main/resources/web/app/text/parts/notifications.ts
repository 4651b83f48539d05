import { html } from "lit";
import type { QuietTime } from "../../core/types";

/** Texts of the form of a notification channel. */
export const text = {
  create: "New notification channel",
  confirmCreate: "Create channel",
  edit: "Edit notification channel",
  namePlaceholder: "On-call",
  sendBy: "Send by",
  slack: "Slack (incoming webhook)",
  email: "E-mail",
  url: "Webhook URL",
  urlHint: "Of Slack, or of a program that understands its format. It is a secret and not shown again.",
  keepUrl: "Leave it empty to keep the current one.",
  recipients: "Recipients",
  recipientsHint: "One address per line.",
  events: "Events",
  /** By type of event. */
  eventTypes: {
    "issue.opened": "New issue",
    "issue.regressed": "Resolved issue is back",
    "issue.reopened": "Issue reopened by a person",
    "issue.growing": "Issue grows fast",
    "builder_job.failed": "Build failed",
  },
  agents: "Agents",
  agentsHint: html`One name per line; <code>orders-*</code> matches all names that begin so. Empty: all
    agents.`,
  minutes: "Least minutes between two messages",
  minutesHint: "What happens meanwhile is sent as one message.",
  quietTimes: "Quiet times",
  quietTimesHint:
    "Nothing is sent then; at the end follows one message. An end that is not later than the beginning is on the next day.",
  quietTime: (number: number) => `Quiet time ${number}`,
  days: {
    mon: { short: "Mo", long: "Monday" },
    tue: { short: "Tu", long: "Tuesday" },
    wed: { short: "We", long: "Wednesday" },
    thu: { short: "Th", long: "Thursday" },
    fri: { short: "Fr", long: "Friday" },
    sat: { short: "Sa", long: "Saturday" },
    sun: { short: "Su", long: "Sunday" },
  } satisfies Record<QuietTime["days"][number], { short: string; long: string }>,
  quietFrom: (number: number) => `Quiet time ${number}, from`,
  to: "to",
  quietTo: (number: number) => `Quiet time ${number}, to`,
  removeQuietTime: (number: number) => `Remove quiet time ${number}`,
  addQuietTime: "+ Add quiet time",
  timeZone: "Time zone",
  quietDaily: (from: string, to: string) => `daily ${from}–${to}`,
  quietOn: (days: string[], from: string, to: string) => `${days.join(" ")} ${from}–${to}`,
};
