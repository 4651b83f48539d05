import { html } from "lit";
import { bounded, count, plural } from "../../core/format";

type Queue = Parameters<typeof bounded>[0];

const queuedRuns = (queue: Queue, state = "queued"): string =>
  `${bounded(queue)} ${state} ${queue.count === 1 ? "run" : "runs"}`;

/** Texts about executions, their queue and why they failed. */
export const text = {
  table: {
    title: "Executions",
    label: "List of executions",
    noMatches: "No matching executions",
    changeFilters: "Change the filters. The list updates live.",
    none: "No executions yet",
    eachRun: "Each run of an agent appears here, with its log and return value.",
    chooseAgent: "Choose an agent to run",
  },
  columns: {
    started: "Started",
    duration: "Duration",
    trigger: "Trigger",
    revision: "Revision",
    attempt: "Attempt",
    reason: "Reason",
    id: "ID",
  },
  triggers: {
    schedule: "schedule",
    scheduleTitle: (name: string) => `Schedule ${name}`,
    batch: "batch",
    onDemand: "on demand",
  },
  filterField: {
    label: "Filter executions",
    placeholder: "Filter: state:failed agent:crawl* since:1d reason:timeout",
    completions: "Completions",
  },
  filter: {
    hints: {
      state: "one or several, separated by commas",
      agent: "words of the name; crawl* begins a word",
      tag: "of the agents; team also finds team/x",
      reason: "why it did not succeed",
      since: "30m, 1h, 7d or a time",
      before: "30m, 1h, 7d or a time",
      revision: "of the agent",
      draft: "of an unsaved script, or not",
    },
    unknownKey: (key: string, known: string[]) => `There is no filter ${key}. There are ${known.join(", ")}.`,
    unknownValue: (key: string, value: string) => `No ${key} is called “${value}”.`,
    noTime: (key: string) =>
      `${key} must be a length of time such as 30m, 1h or 7d, or a time such as 2026-11-21T18:00.`,
    noRevision: "revision must be a number.",
  },
  bulk: {
    runAgain: "Run again",
    compare: "Compare",
    selectTwo: "Select two executions to compare them.",
    nothingToRun: "Nothing to run again: the jobs have not ended.",
    runJobsAgain: (jobs: number) => `Run ${plural(jobs, "job")} again?`,
    eachRuns: "Each runs with its payload and the current revision of its agent.",
    notEnded: "has not ended",
    confirmRunAgain: (jobs: number) => `Run ${count(jobs)} again`,
    nothingToCancel: "Nothing to cancel: the executions have ended.",
    cancelExecutions: (executions: number) => `Cancel ${plural(executions, "running execution")}?`,
    eachReceives: "Each script receives SIGTERM, and SIGKILL ten seconds later. The runs are not retried.",
    ended: "has ended",
    confirmCancel: "Cancel executions",
    queued: {
      done: (runs: number) => `${plural(runs, "run")} queued.`,
      notDone: (failed: number, all: number) => `${count(failed)} of ${plural(all, "run")} not queued`,
    },
    cancelled: {
      done: (runs: number) => `${plural(runs, "run")} cancelled.`,
      notDone: (failed: number, all: number) => `${count(failed)} of ${plural(all, "run")} not cancelled`,
    },
    runsCancelled: (runs: number) => `${plural(runs, "run")} cancelled.`,
  },
  queue: {
    title: queuedRuns,
    oldest: {
      queued: (duration: unknown) => html`· oldest waiting ${duration}`,
      suspended: (duration: unknown) => html`· oldest created ${duration} ago`,
    },
    show: { queued: "Show queued runs", suspended: "Show suspended runs" },
    hide: { queued: "Hide queued runs", suspended: "Hide suspended runs" },
    cancelAll: "Cancel all",
    cancelling: "Cancelling…",
    label: { queued: "List of queued runs", suspended: "List of suspended runs" },
    waiting: "Waiting",
    attempts: "Attempts",
    waitingFor: "Waiting for",
    until: (time: unknown) => html`until ${time}`,
    cancelRuns: (queue: Queue) => `Cancel ${queuedRuns(queue)}?`,
    cancelsOfAgent: "Cancels all queued runs of this agent. Running executions continue.",
    cancelsOfAll: "Cancels the queued runs of all agents. Running executions continue.",
    confirmCancel: "Cancel queued runs",
    keepQueued: "Keep queued",
    cancelled: (runs: number) => `${plural(runs, "queued run")} cancelled.`,
  },
  drafts: {
    mark: "draft",
    markTitle: "A run of an unsaved script; figures and issues leave it out",
    draftBasedOn: (revision: number) => `draft based on revision ${revision}`,
    basedOn: (revision: number) => `based on revision ${revision}`,
    revision: (revision: number) => `revision ${revision}`,
    edit: "Edit draft",
    tryEdited: "Try an edited script",
    tryTitle: "Opens the editor with this payload: runs what you change without saving it",
  },
  panel: {
    run: "Run",
    cancelRun: "Cancel run",
    readOnly: html`Your API key is read-only. Running agents requires the role <code>execute</code> or
      <code>write</code>.`,
    payloadLabel: "Payload, JSON",
    notRun: "Not run: fix the requirements and run again",
    recent: "Recent executions",
  },
  runs: {
    runEdited: "Run with edited payload",
    run: "Run",
    notJson: "The payload is not valid JSON",
    cancelExecution: "Cancel this execution?",
    receives: "The script receives SIGTERM, and SIGKILL ten seconds later. The run is not retried.",
    confirmCancel: "Cancel execution",
    keepRunning: "Keep running",
  },
  payloads: {
    title: "Payload",
    form: "Properties of the payload",
    hint: html`JSON, read by the script as <code>request.payload</code>. Empty: <code>None</code>.`,
    without: "without payload",
    with: (payload: string) => `with payload ${payload}`,
  },
  savedPayloads: {
    label: "Saved payloads",
    notLoaded: "Saved payloads can't be loaded",
    save: "Save payload",
    delete: "Delete payload",
    notJson: (line: number, mistake: string) => `The payload is not valid JSON: line ${line}: ${mistake}`,
    forEveryone: "For everyone who runs this agent.",
    replaces: "Replaces the payload with this name, for everyone.",
    nameRequired: "A name is required.",
    saved: (name: string) => `Payload ${name} saved.`,
    confirmDelete: (name: string) => `Delete payload ${name}?`,
    everyoneLoses: "Everyone loses it. The text stays in the editor.",
    deleted: (name: string) => `Payload ${name} deleted.`,
  },
  timeline: {
    label: "Timeline",
    steps: { queued: "queued", starting: "starting", running: "running" },
    until: (waits: string, time: unknown) => html`${waits}, until ${time}`,
    coldStart: "cold start",
    warm: "warm executor",
  },
  steps: {
    title: "Steps",
    ranAgain: "ran again",
    calls: (n: number) => `${n} calls`,
    resultOf: (name: string) => `Result of ${name}`,
    execution: "View execution",
    called: "View called run",
    event: (name: string, key: string | null) => (key ? `event ${name}, key ${key}` : `event ${name}`),
    sendEvent: "Send event",
    approval: "View approval",
  },
  values: {
    title: "Values",
    join: "Join",
    joinTitle: "Show the texts as one",
    skipped: (n: number) => `${n} values before these aren’t shown.`,
    progress: "Progress",
    percent: (fraction: number) => `${Math.round(100 * fraction)}%`,
  },
  events: {
    title: (name: string) => `Send the event ${name}`,
    data: "Data",
    dataHint: "Any JSON value, which request.wait_for_event returns.",
    send: "Send",
    received: "The script has received the event.",
    notJson: "The data isn’t JSON.",
    stored: "The event is stored: the script doesn’t wait for it now.",
  },
  result: {
    failureReason: "Failure reason",
    place: (line: number, column: number | null) =>
      column ? `line ${line}, column ${column}` : `line ${line}`,
    traceback: "Traceback",
    returnValue: "Return value",
    log: "Log",
  },
  marks: {
    latestRun: (error: string) => `The latest run failed here: ${error}`,
    draft: (error: string) => `The draft failed here: ${error}`,
    revision: (revision: number, error: string) => `Revision ${revision} failed here: ${error}`,
    buildFailed: "The build failed because of this requirement.",
  },
  /** Why a job is queued. */
  waiting: {
    build: "Waiting for the agent's build",
    executor: "Waiting for a free executor",
    capacity: "Waiting for capacity for a new executor",
    concurrency: "Waiting: the limit of the agent's max_concurrency or of the concurrency key is reached",
    retry_delay: "Waiting for the next attempt",
    storage: "Waiting for storage: Roost's storage is full",
    timer: "The script sleeps, without an executor",
    call: "The script waits for runs that it has called, without an executor",
    event: "The script waits for an event, without an executor",
    approval: "The script waits for an approval, without an executor",
  },
  /** Why an Execution or an ExecutorJob did not succeed, and what to do about it. */
  reasons: {
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
      help: "Store large results with request.artifact, and return their names.",
    },
    payload_lost: {
      title: "The payload is lost",
      help: "It was stored as a file, and the storage of files no longer has it, for example since only the database was restored. Submit the job again with its payload.",
    },
    bundle_lost: {
      title: "The project's files are lost",
      help: "The storage of files no longer has the files of the agent's project, for example since only the database was restored. Deploy the project again.",
    },
    replay_diverged: {
      title: "A retry asked for other steps than the job has stored",
      help: "A script must call request.step in the same order in each attempt. Do what may differ, such as reading a clock, a random number or a list that changes, in a step.",
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
  },
  /** Likewise of a BuilderJob. */
  buildReasons: {
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
  },
};
