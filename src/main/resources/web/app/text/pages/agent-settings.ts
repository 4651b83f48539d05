import { html } from "lit";

/** Texts of the page of an agent's settings. */
export const text = {
  readOnly: html`Your API key can't change settings. The role <code>write</code> is required.`,
  title: "Settings",
  tags: "Tags",
  tagsHint: "Labels to find the agent by, separated by commas. Slashes separate levels: team/crawlers.",
  limits: "Limits",
  retries: "Retries",
  /** Labels and hints of figures, by the fields of the API. */
  figures: {
    timeout: {
      label: "Timeout (seconds)",
      hint: "Maximum duration of an execution, up to 86,400 (one day).",
    },
    memory: { label: "Memory (MiB)", hint: "Memory limit of a process, at least 16." },
    cpu: { label: "CPU (cores)", hint: "CPU share of an execution; 0.5 is half a core." },
    max_concurrency: {
      label: "Max concurrency",
      hint: "Executions at the same time, 1 to 1,000; further runs are queued.",
    },
    requests_per_process: {
      label: "Requests per process",
      hint: "Executions that share a process and its memory, 1 to 100. More than 1 requires async def main, and suits scripts that mostly wait.",
    },
    keep_warm: {
      label: "Keep warm (seconds)",
      hint: "How long an idle executor is kept for the next execution, which then starts in milliseconds.",
    },
    max_attempts: { label: "Max attempts", hint: "1 to 10; 1 means no retries." },
    retry_delay: {
      label: "Retry delay (seconds)",
      hint: "Delay before the second attempt; doubled for each further one, with jitter.",
    },
  },
  isolation: "Isolation",
  sharedExecutor: "Shared executor",
  dedicatedExecutor: "Dedicated executor",
  isolationHint:
    "Shared: each execution is its own process and starts in milliseconds. Dedicated: executions share nothing and start slower.",
  keyScope: "Concurrency keys",
  keysOfExecutions: "Held by executions",
  keysOfJobs: "Held by jobs",
  keyScopeHint:
    "Held by executions: the next job with the same key may run while this one is suspended or waits for a retry. Held by jobs: it waits until this one has ended.",
  preload: "Preloaded imports",
  preloadAutomatic: "Automatic",
  preloadOff: "Off",
  preloadHint:
    "Automatic: an executor imports packages once, and executions start with them. Off: each execution imports everything itself.",
  schemas: "Schemas",
  schemaNames: { input_schema: "Input schema", output_schema: "Output schema" },
  schemaHints: {
    input_schema: html`A JSON Schema (draft 2020-12) that payloads must match: others are refused. Its simple
      properties become a form in the workspace. Empty: what the type hints of <code>main</code> say, or any
      payload.`,
    output_schema: html`A JSON Schema of what <code>main</code> returns, for those who call the agent. Return
      values aren't checked.`,
  },
  hinted: "Made from the type hints of main; it applies as long as the field is empty",
  neverRetry: "Don't retry after",
  saving: "Saving…",
  save: "Save settings",
  discard: "Discard changes",
  deleteAgent: "Delete agent",
  deletes:
    "Cancels running and queued executions and deletes the agent's schedules. DataStores and the execution history are kept.",
  saved: "Settings saved. They apply to executions that start from now on.",
};
