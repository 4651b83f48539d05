import { words } from "../core/format";

/** A reason in words: what it means, and what to do about it. */
export interface Reason {
  title: string;
  /** What people can do; "" when there is nothing to do. */
  help: string;
}

/** Why an Execution or an ExecutorJob did not succeed. */
const EXECUTION: Record<string, Reason> = {
  exception: {
    title: "The script raised an exception",
    help: "The marked line of the script is where it was raised; the traceback is at the end of the log.",
  },
  no_main: {
    title: "The script has no function main",
    help: "Add def main(request, store): to the script. Its name must be exactly main, outside of any class.",
  },
  bad_signature: {
    title: "main takes other parameters than it will be given",
    help: "main may take nothing, request, or request and store.",
  },
  syntax_error: {
    title: "The script is not valid Python",
    help: "Correct the marked line. It may be valid in a later version of Python: the agent's version is in its settings.",
  },
  import_error: {
    title: "A module could not be imported",
    help: "Add its package to the agent's requirements. A package's name may differ from its module's: PyYAML is imported as yaml.",
  },
  not_json: {
    title: "The return value can't be written as JSON",
    help: "Return None, booleans, numbers, strings, lists and dicts with string keys. Convert the rest before, for example with str() or .isoformat().",
  },
  return_value_too_large: {
    title: "The return value is too large",
    help: "Put large results into a DataStore or a file service, and return where they are.",
  },
  exited: {
    title: "The script's process ended by itself",
    help: "It called sys.exit or os._exit, or a signal ended it, often by a crash in a native library. Let main return instead.",
  },
  deadline_exceeded: {
    title: "The script ran longer than the agent's timeout",
    help: "Look in the log for where it waits; give requests of its own a time-out; or raise the agent's timeout in its settings.",
  },
  out_of_memory: {
    title: "The script used more memory than it may",
    help: "Read and write data in pieces, or raise the agent's memory in its settings.",
  },
  out_of_disk: {
    title: "The script filled its working directory",
    help: "Remove temporary files when they are done with, or write less at a time.",
  },
  too_many_processes: {
    title: "The script started too many processes",
    help: "Use a smaller pool of processes or threads.",
  },
  cancelled: { title: "It was cancelled", help: "" },
  executor_lost: {
    title: "The process in which the script ran ended unexpectedly",
    help: "Its machine may have stopped. Run it again; if the script may safely run twice, raise the agent's max_attempts so that Roost does so by itself.",
  },
  build_failed: {
    title: "The agent's requirements could not be installed",
    help: "The agent's latest build says which requirement, and why. Once they are corrected, order it again.",
  },
  image_pull_failed: {
    title: "The agent's image could not be pulled",
    help: "Whoever runs this Roost: check that the cluster's machines can reach the registry and may read from it.",
  },
  unschedulable: {
    title: "No machine has room for the executor",
    help: "Lower the agent's memory or cpu, or add a machine to the cluster.",
  },
  runtime_unavailable: {
    title: "No executor could be started",
    help: "The message says why. Roost's own log says more; it is nothing about the script.",
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
    help: "The explanation says which exclude each other. Change the version of one of them.",
  },
  build_from_source_failed: {
    title: "A package had to be built from source, which failed",
    help: "There is no wheel of it for this version of Python and platform. Choose a version that has one, or another version of Python.",
  },
  index_unreachable: {
    title: "The package index did not answer",
    help: "Save the agent's requirements again in a moment; nothing in them needs a change.",
  },
  registry_unreachable: {
    title: "The image registry did not answer",
    help: "Whoever runs this Roost: check the registry and the way to it, then save the requirements again.",
  },
  python_version_unavailable: {
    title: "This version of Python is not offered any more",
    help: "Choose another version in the agent's settings.",
  },
  deadline_exceeded: {
    title: "The build took longer than it may",
    help: "The log says what took so long, most often a package built from source. A version with a wheel installs in seconds.",
  },
  out_of_memory: {
    title: "The build needed more memory than it may use",
    help: "Most often a package built from source: choose a version with a wheel.",
  },
  out_of_disk: {
    title: "There was no space left for the packages",
    help: "Whoever runs this Roost: make room on its disk. Fewer or smaller requirements help, too.",
  },
  superseded: { title: "A later change of the agent made this build pointless", help: "" },
  agent_deleted: { title: "The agent was deleted", help: "" },
  runtime_unavailable: {
    title: "The build could not be started",
    help: "The message says why. Roost's own log says more; it is nothing about the requirements.",
  },
  lost: {
    title: "The build ended without a result",
    help: "Its log tells how far it came. Save the requirements again to build once more.",
  },
};

/** Why an order waits. */
export const WAITING: Record<string, string> = {
  build: "Waits for the agent's build",
  executor: "Waits for a free executor",
  capacity: "Waits for capacity: there is none for its executor now",
  concurrency: "Waits for others: as many run as the agent's max_concurrency or the order's key allow",
  retry_delay: "Waits before the next attempt",
  storage: "Waits for space: Roost's storage is full",
};

/** Reasons that are no fault of anything. */
export const isHarmless = (reason: string | null): boolean =>
  reason === "cancelled" || reason === "superseded" || reason === "agent_deleted";

export const executionReason = (reason: string): Reason => EXECUTION[reason] ?? unknown(reason);
export const buildReason = (reason: string): Reason => BUILD[reason] ?? unknown(reason);

/** What each reason of executions is called, for filters. */
export const executionReasons: readonly string[] = Object.keys(EXECUTION);

/** A later Roost may have reasons of which this page has never heard. */
function unknown(reason: string): Reason {
  const text = words(reason);
  return { title: text.charAt(0).toUpperCase() + text.slice(1), help: "" };
}
