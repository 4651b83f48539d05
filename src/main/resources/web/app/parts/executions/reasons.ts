import { html, nothing, type TemplateResult } from "lit";
import { words } from "../../core/format";

/** A reason in words, with what to do about it. */
export interface Reason {
  title: string;
  /** What people can do; "" when there is nothing to do. */
  help: string;
}

/** Why an Execution or an ExecutorJob did not succeed. */
const EXECUTION: Record<string, Reason> = {
  exception: {
    title: "The script raised an exception",
    help: "It was raised at the marked line; the traceback is at the end of the log.",
  },
  no_main: {
    title: "The script has no main function",
    help: "Add def main(request, store): to the script. It must be at module level.",
  },
  bad_signature: {
    title: "main has unsupported parameters",
    help: "Supported: main(), main(request) and main(request, store).",
  },
  syntax_error: {
    title: "The script is not valid Python",
    help: "Fix the marked line, or choose a later Python version if the syntax requires one.",
  },
  import_error: {
    title: "A module could not be imported",
    help: "Add its package to the agent's requirements. A package's name may differ from its module's: PyYAML is imported as yaml.",
  },
  not_json: {
    title: "The return value is not valid JSON",
    help: "Return None, booleans, numbers, strings, lists and dicts with string keys. Convert other values, for example with str() or .isoformat().",
  },
  return_value_too_large: {
    title: "The return value is too large",
    help: "Store large results in a DataStore or object storage, and return a reference.",
  },
  exited: {
    title: "The script's process exited",
    help: "It called sys.exit or os._exit, or was ended by a signal, often after a crash in a native library. Return from main instead.",
  },
  deadline_exceeded: {
    title: "The script exceeded the agent's timeout",
    help: "Check the log for where it waits, set timeouts on its own requests, or raise the agent's timeout in its settings.",
  },
  out_of_memory: {
    title: "The script exceeded its memory limit",
    help: "Process data in chunks, or raise the agent's memory in its settings.",
  },
  out_of_disk: {
    title: "The script filled its working directory",
    help: "Delete temporary files that are no longer needed, or write less at a time.",
  },
  too_many_processes: {
    title: "The script started too many processes",
    help: "Use a smaller pool of processes or threads.",
  },
  cancelled: { title: "Cancelled", help: "" },
  executor_lost: {
    title: "The executor ended unexpectedly",
    help: "Its machine may have stopped. Run the agent again. If the script is idempotent, raise max_attempts in the agent's settings so that Roost retries automatically.",
  },
  build_failed: {
    title: "The agent's requirements could not be installed",
    help: "The agent's latest build shows which requirement failed and why. Fix it and run again.",
  },
  image_pull_failed: {
    title: "The agent's image could not be pulled",
    help: "For the operator: check that the cluster's nodes can reach the registry and are allowed to pull from it.",
  },
  unschedulable: {
    title: "No node has capacity for the executor",
    help: "Lower the agent's memory or cpu, or add a node to the cluster.",
  },
  runtime_unavailable: {
    title: "No executor could be started",
    help: "See the message and Roost's own log. The script is not the cause.",
  },
};

/** Why a BuilderJob did not succeed. */
const BUILD: Record<string, Reason> = {
  requirement_not_found: {
    title: "The package index has no such package or version",
    help: "Check the spelling and the version, and whether that version exists for this version of Python.",
  },
  requirements_conflict: {
    title: "The requirements can't be installed together",
    help: "The message lists the requirements in conflict. Change the version of one of them.",
  },
  build_from_source_failed: {
    title: "A package could not be built from source",
    help: "It has no wheel for this Python version and platform. Choose a version with a wheel, or another Python version.",
  },
  index_unreachable: {
    title: "The package index did not answer",
    help: "Try again later by saving the requirements again. They need no change.",
  },
  registry_unreachable: {
    title: "The image registry did not answer",
    help: "For the operator: check the registry and the network, then save the requirements again.",
  },
  python_version_unavailable: {
    title: "This Python version is no longer available",
    help: "Choose another version in the agent's settings.",
  },
  deadline_exceeded: {
    title: "The build exceeded its time limit",
    help: "The log shows what took so long, most often a package built from source. A version with a wheel installs in seconds.",
  },
  out_of_memory: {
    title: "The build exceeded its memory limit",
    help: "Most often a package built from source: choose a version with a wheel.",
  },
  out_of_disk: {
    title: "No disk space left for the packages",
    help: "For the operator: free disk space. Fewer or smaller requirements also help.",
  },
  superseded: { title: "Superseded by a later change of the agent", help: "" },
  agent_deleted: { title: "The agent was deleted", help: "" },
  runtime_unavailable: {
    title: "The build could not be started",
    help: "See the message and Roost's own log. The requirements are not the cause.",
  },
  lost: {
    title: "The build ended without a result",
    help: "The log shows how far it got. Save the requirements again to rebuild.",
  },
};

/** Why a job is queued. */
export const WAITING: Record<string, string> = {
  build: "Waiting for the agent's build",
  executor: "Waiting for a free executor",
  capacity: "Waiting for capacity for a new executor",
  concurrency: "Waiting: the limit of the agent's max_concurrency or of the concurrency key is reached",
  retry_delay: "Waiting for the next attempt",
  storage: "Waiting for storage: Roost's storage is full",
};

/** A reason in a row of a table; the code, by which the API filters, on hover. */
export const reasonCell = ({ title }: Reason, code: string, message: string | null): TemplateResult =>
  html`<span class="why cut" title=${message ? `${code}: ${message}` : code}
    >${title}${message ? html` <span class="faint">· ${message}</span>` : nothing}</span
  >`;

/** Reasons that are not failures. */
export const isHarmless = (reason: string | null): boolean =>
  reason === "cancelled" || reason === "superseded" || reason === "agent_deleted";

export const executionReason = (reason: string): Reason => EXECUTION[reason] ?? unknown(reason);
export const buildReason = (reason: string): Reason => BUILD[reason] ?? unknown(reason);

/** All reasons of executions, for filters. */
export const executionReasons: readonly string[] = Object.keys(EXECUTION);

/** A later version of Roost may have new reasons. */
function unknown(reason: string): Reason {
  const text = words(reason);
  return { title: text.charAt(0).toUpperCase() + text.slice(1), help: "" };
}
