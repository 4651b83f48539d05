import { html } from "lit";
import type { State } from "../../core/states";

/** Texts of the page of an agent. */
export const text = {
  details: "Agent details",
  builds: {
    queued: "build queued",
    running: "building",
    succeeded: "built",
    failed: "build failed",
    cancelled: "build cancelled",
  } satisfies Record<State<"BuilderJob">, string>,
  revision: (revision: number) => `revision ${revision}`,
  python: (version: string) => `Python ${version}`,
  profile: (profile: string) => `profile ${profile}`,
  activity: (running: number, queued: number) => `${running} running, ${queued} queued`,
  nextRun: (ago: unknown) => html`next run ${ago}`,
  changed: (ago: unknown) => html`changed ${ago}`,
  viewBuild: "View build",
  outdated: "This agent is outdated",
  rebuild: "Rebuild",
  views: "Agent views",
  tabs: {
    workspace: "Workspace",
    executions: "Executions",
    performance: "Performance",
    schedules: "Schedules",
    stores: "Stores",
    builds: "Builds",
    revisions: "Revisions",
    settings: "Settings",
    "call-it": "Call from code",
  },
  unsavedTitle: "Unsaved changes",
  unsaved: "unsaved changes",
  notFound: "Agent not found",
  mayBeDeleted: (id: string) =>
    html`No agent has the ID <code>${id}</code>. It may have been deleted; its executions are kept.`,
  viewAgents: "View agents",
  viewExecutions: "View executions",
  mayLeave: "Leave without saving?",
  keptAsDraft: (name: string) => `Your changes to ${name} are not saved. This browser keeps them as a draft.`,
  leave: "Leave",
};
