import type { State } from "./states";

/** The part of the REST API's responses that the dashboard uses. The reference is at /docs. */

/** A JSON value as the API keeps it: a number whose text JavaScript would change is an {@link ExactNumber}. */
export type Json = null | boolean | number | string | ExactNumber | Json[] | { [key: string]: Json };

/** A number with the text that was stored, for example 1.10 or one of 30 digits. */
export class ExactNumber {
  constructor(readonly source: string) {}
}

/** Text that is JSON already and goes into a body as it is. */
export class RawJson {
  constructor(readonly source: string) {}
}

export interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

export type Role = "read" | "execute" | "write";

export interface Session {
  key: { id: string; name: string; role: Role };
  created_at: string;
  expires_at: string | null;
}

/** The response to signing in. */
export interface NewSession extends Session {
  page_token: string;
}

export interface Activity {
  builder_job: { id: string; state: State<"BuilderJob">; reason: string | null } | null;
  last_execution: {
    id: string;
    state: State<"Execution">;
    reason: string | null;
    started_at: string;
    finished_at: string | null;
  } | null;
  next_run_at: string | null;
  running: number;
  queued: number;
  executions_7d: { succeeded: number; failed: number };
}

/** How an agent's Build differs from one built now. */
export interface Outdated {
  reasons: ("base" | "sdk")[];
  /** Null: an earlier version of Roost did not record it. */
  base: string | null;
  current_base: string;
  /** Vulnerabilities of its base that the current one fixes. */
  fixes: { id: string; severity: string | null; summary: string | null }[];
}

export interface Agent {
  id: string;
  name: string;
  script: string;
  /** The files of its project; null: a script alone. */
  bundle_id: string | null;
  /** Where the script is among them. */
  script_path: string | null;
  requirements: string;
  env_vars: string;
  python_version: string;
  store_ids: string[];
  timeout: number;
  memory: number;
  cpu: number;
  max_concurrency: number;
  concurrency_key_scope: "execution" | "job";
  max_attempts: number;
  retry_delay: number;
  never_retry: string[];
  keep_warm: number;
  isolation: "process" | "pod";
  /** How many executions run in one process at the same time. */
  requests_per_process: number;
  /** One of the runtime's; null: the default. */
  profile: string | null;
  /** "all", "none", or one destination per line. */
  egress: string;
  preload: "auto" | "off";
  /** A JSON Schema, or null. */
  input_schema: Json;
  output_schema: Json;
  /** Of main's type hints; they apply where the schemas above are null. */
  hinted_input_schema: Json;
  hinted_output_schema: Json;
  /** Sorted. */
  tags: string[];
  /** Under which language models are offered the agent as a tool; null: it isn't one. */
  tool_name: string | null;
  tool_description: string | null;
  /** The newest one. */
  revision: number;
  /** The newest one with a build; null before the first. */
  running_revision: number | null;
  building_revision: number | null;
  build_failure: {
    revision: number;
    builder_job_id: string;
    reason: string | null;
    message: string | null;
  } | null;
  build_id: string | null;
  latest_builder_job_id: string | null;
  /** Null: it is current, or there is no Build yet. */
  outdated: Outdated | null;
  /** Null: off, not known yet, or in a list of agents. */
  preloaded: Preloaded | null;
  created_at: string;
  updated_at: string;
  activity?: Activity;
}

/** What executors of a revision import once, for all executions. */
export interface Preloaded {
  revision: number;
  /** Their number. */
  modules: number;
  packages: string[];
  import_seconds: number;
  memory_bytes: number;
  /** At most 200. */
  left_out: { module: string; reason: string }[];
  updated_at: string;
}

export interface AgentRevision {
  agent_id: string;
  revision: number;
  script: string;
  bundle_id: string | null;
  script_path: string | null;
  requirements: string;
  env_vars: string;
  python_version: string;
  profile: string | null;
  egress: string;
  preload: "auto" | "off";
  input_schema: Json;
  output_schema: Json;
  /** Of main's type hints; they apply where the schemas above are null. */
  hinted_input_schema: Json;
  hinted_output_schema: Json;
  builder_job_id: string | null;
  build_id: string | null;
  created_at: string;
}

/** A file of a bundle. */
export interface BundleFile {
  /** With slashes. */
  path: string;
  size_bytes: number;
  sha256: string;
  executable: boolean;
}

export interface BuilderJob {
  id: string;
  agent_id: string;
  agent_revision: number;
  python_version: string;
  requirements: string;
  state: State<"BuilderJob">;
  reason: string | null;
  message: string | null;
  build_id: string | null;
  reused: boolean;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface Build {
  id: string;
  image_key: string;
  image: string | null;
  python_version: string;
  base: string | null;
  packages: { name: string; version: string; sha256: string; size_bytes?: number | null }[];
  size_bytes: number;
  duration: number;
  created_at: string;
}

/** What scripts can import of a Build; null: it has no index. */
export interface BuildModules {
  modules: string[] | null;
}

/** The public names of a module; null: they are not known. */
export interface BuildModule {
  name: string;
  symbols: PythonSymbol[] | null;
}

/** A name of a module, as the build has found it without running it. */
export interface PythonSymbol {
  name: string;
  kind: "class" | "function" | "method" | "module" | "property" | "variable";
  /** With its brackets, for example "(url, **kwargs) -> Response". */
  signature?: string;
  /** The first sentence of its documentation. */
  doc?: string;
  /** Where a class is described, or the whole name of a module. */
  from?: string;
  /** The class of what a function returns, or that a variable has. */
  type?: string;
  /** Of a class: its own names, and the classes that it has others from. */
  members?: PythonSymbol[];
  bases?: string[];
}

export interface RolloutCounts {
  total: number;
  queued: number;
  building: number;
  updated: number;
  failed: number;
  skipped: number;
  undone: number;
}

export interface Rollout {
  id: string;
  state: State<"Rollout">;
  automatic: boolean;
  /** Why Roost paused it. */
  message: string | null;
  agents: RolloutCounts;
  created_at: string;
  finished_at: string | null;
}

export interface RolloutAgent {
  agent_id: string;
  agent_name: string;
  state: State<"RolloutAgent">;
  from_builder_job_id: string;
  to_builder_job_id: string | null;
  message: string | null;
  updated_at: string;
}

export interface ScriptError {
  type: string;
  message: string;
  traceback: string;
  line: number | null;
  column: number | null;
}

export interface Execution {
  id: string;
  executor_job_id: string;
  agent_id: string;
  agent_revision: number;
  /** Whether it ran an unsaved script, with everything else of the revision. */
  draft: boolean;
  build_id: string | null;
  attempt: number;
  state: State<"Execution">;
  reason: string | null;
  message: string | null;
  error: ScriptError | null;
  return_value: Json;
  started_at: string;
  finished_at: string | null;
  cold_start: boolean;
  timings: { queued: number | null; starting: number | null; running: number | null } | null;
  usage: { cpu_seconds: number; max_memory_bytes: number } | null;
  log_entries: number;
  logs_truncated: boolean;
  progress: Progress | null;
  submission: Submission | null;
}

/** How far a script is, as it has said itself. */
export interface Progress {
  /** From 0 to 1. */
  fraction: number | null;
  message: string | null;
}

/** How the job of an execution was submitted. */
export interface Submission {
  schedule_id: string | null;
  schedule_name: string | null;
  batch_id: string | null;
  payload_preview: string | null;
}

/** How many items a list has, counted up to a limit. */
/** GET /agents/tags */
export interface AgentTags {
  data: { tag: string; agents: number }[];
  more: boolean;
  untagged: number;
}

export interface ActionResult {
  id: string;
  name?: string;
  changed: boolean;
  jobs?: number;
  schedule_ids?: string[];
  executor_job_id?: string;
  error?: { code: string; detail: string };
}

export interface ActionResults {
  results: ActionResult[];
  changed: number;
  failed: number;
}

export interface SavedView {
  id: string;
  list: "agents" | "executions";
  name: string;
  filter: string;
  sort: string | null;
  columns: string[] | null;
  grouped: boolean;
}

export interface SavedPayload {
  name: string;
  size_bytes: number;
  /** Null in lists. */
  payload: Json;
}

export interface AgentUrl {
  agent_id: string;
  /** The address, or its path if the server doesn't know its own. */
  url: string;
  methods: string[];
  mode: "wait" | "accept";
  format: "json" | "http";
  authentication: "key" | "signature" | "public";
  signature_scheme: "standard_webhooks" | "github" | "stripe" | "slack" | null;
  previous_secret_until: string | null;
  cors_origins: string[];
  requests_per_minute: number | null;
  wait_seconds: number;
  /** Only after a change that has set or generated it. */
  secret?: string;
}

export interface Count {
  count: number;
  more: boolean;
  oldest_created_at: string | null;
}

export interface ExecutorJob {
  id: string;
  agent_id: string;
  agent_revision: number;
  /** Whether it runs an unsaved script, with everything else of the revision. */
  draft: boolean;
  schedule_id: string | null;
  scheduled_time: string | null;
  batch_id: string | null;
  priority: number;
  concurrency_key: string | null;
  payload: Json;
  state: State<"ExecutorJob">;
  reason: string | null;
  message: string | null;
  waiting_on:
    | "build"
    | "executor"
    | "capacity"
    | "concurrency"
    | "retry_delay"
    | "storage"
    | "timer"
    | "call"
    | "event"
    | "approval"
    | null;
  next_attempt_at: string | null;
  /** The job whose script has called this one. */
  parent_id: string | null;
  /** When a suspended job continues; null while it waits for calls. */
  resume_at: string | null;
  attempts: number;
  execution: Execution | null;
  created_at: string;
  finished_at: string | null;
}

/** A durable step of an ExecutorJob that has ended. */
export interface Step {
  number: number;
  /** Its position in the script, after that of the step that it is part of: 2/1. */
  path: string;
  name: string;
  execution_id: string;
  state: State<"Step">;
  result: Json;
  error: { type: string; message: string; traceback: string | null } | null;
  /** How often its function was called. */
  attempts: number;
  duration_seconds: number;
  finished_at: string;
  /** Of a sleep: when it ends; of a wait for an event: when it times out. */
  until: string | null;
  kind: "step" | "sleep" | "call" | "event" | "approval";
  /** Of a call: the job. */
  called_job_id: string | null;
  /** Of a wait for an event. */
  event_name: string | null;
  event_key: string | null;
  /** Of a wait for an approval. */
  approval_id: string | null;
}

/** A file's metadata. */
export interface StoredFile {
  id: string;
  name: string;
  /** Its media type. */
  content_type: string;
  state: "uploading" | "stored";
  size_bytes: number;
  created_at: string;
}

/** A file of a job. */
export interface JobFile {
  /** input: submitted with the payload; artifact: stored by the script; others: a large payload or return value. */
  kind: "input" | "artifact" | "payload" | "return_value";
  /** The name under which the script knows it. */
  name: string;
  file: StoredFile;
}

/** A field of what is filled in with an approval, as JSON Schema. */
export interface ApprovalField {
  type: "string" | "number" | "integer" | "boolean";
  title?: string;
  description?: string;
  default?: Json;
  enum?: Json[];
  format?: string;
}

export interface ApprovalForm {
  properties: Record<string, ApprovalField>;
  required?: string[];
}

/** What the holder of a link sees of an approval. */
export interface LinkedApproval {
  title: string;
  details: Json;
  /** An ApprovalForm, or null. */
  form: Json;
  assignee: string | null;
  state: State<"Approval">;
  expires_at: string | null;
}

/** A question that a script asks people. */
export interface Approval extends Omit<LinkedApproval, "assignee"> {
  id: string;
  executor_job_id: string;
  agent_id: string;
  assignees: string[];
  created_at: string;
  decided_at: string | null;
  decided_by: string | null;
  comment: string | null;
  value: Json;
}

/** An event that was sent to a script. */
export interface JobEvent {
  id: string;
  /** When a wait got it; null before. */
  received_at: string | null;
}

/** A complete agent that a new one can begin with. */
export interface AgentTemplate {
  name: string;
  title: string;
  summary: string;
  description: string;
  tags: string[];
  script: string;
  requirements: string;
  variables: { name: string; description: string; required: boolean; example: string }[];
  uses_store: boolean;
  payload: Json;
  schedule: { cron: string; reason: string } | null;
}

/** Failures of one cause. */
export interface Issue {
  id: string;
  agent_id: string;
  state: State<"Issue">;
  /** Open again after it was resolved. */
  regressed: boolean;
  title: string;
  reason: string;
  exception_type: string | null;
  /** The innermost frame of the script; null: outside of it. */
  culprit: { file: string; function: string | null; line: number } | null;
  count: number;
  first_seen_at: string;
  last_seen_at: string;
  first_revision: number;
  last_revision: number;
  last_execution_id: string;
  resolved_at: string | null;
  /** Without hours that had none; null in lists. */
  hours: IssueHour[] | null;
  /** Newest first; null in lists. */
  revisions: { revision: number; count: number; first_seen_at: string; last_seen_at: string }[] | null;
}

export interface IssueHour {
  hour: string;
  count: number;
}

export type IssueCounts = Record<State<"Issue">, number>;

/** What running an issue's jobs again submitted, or would submit. */
export interface Replay {
  preview: boolean;
  count: number;
  succeeded: number;
  pending: number;
  cancelled: number;
  /** Jobs remain, beyond the limit. */
  more: boolean;
  batch_id: string | null;
  jobs: { executor_job_id: string; replayed_as: string | null }[];
}

export interface LogEntry {
  seq: number;
  time: string;
  stream: "stdout" | "stderr" | "logging" | "system";
  level: string | null;
  logger: string | null;
  message: string;
  continued: boolean;
}

/** A line of a log, or another text of an execution, that a search has found. */
export interface SearchMatch {
  in: "logs" | "errors" | "payloads" | "results";
  execution_id: string;
  agent_id: string;
  agent_name: string | null;
  time: string;
  /** The number of the line; null for other texts. */
  seq: number | null;
  stream: LogEntry["stream"] | null;
  level: string | null;
  fragments: { text: string; match: boolean }[];
  truncated: boolean;
  before: SearchLine[];
  after: SearchLine[];
  path: string;
}

/** A line near a match. */
export interface SearchLine {
  seq: number;
  time: string;
  stream: LogEntry["stream"];
  level: string | null;
  text: string;
}

export interface SearchPage extends Page<SearchMatch> {
  timed_out: boolean;
  /** Executions that ended before are not indexed yet; null: all are. */
  indexed_from: string | null;
}

export interface Schedule {
  id: string;
  agent_id: string;
  name: string;
  cron: string;
  time_zone: string;
  description: string;
  payload: Json;
  state: State<"Schedule">;
  missed_runs: "skip" | "run_once" | "run_all";
  missed_runs_limit: number;
  overlap: "allow" | "skip" | "queue";
  jitter: number;
  starts_at: string | null;
  ends_at: string | null;
  next_run_at: string | null;
  last_run: { scheduled_time: string; executor_job_id: string; state: State<"ExecutorJob"> | null } | null;
  created_at: string;
  updated_at: string;
}

export interface DataStore {
  id: string;
  name: string;
  entries: number;
  size_bytes: number;
  agent_ids: string[];
  created_at: string;
  /** Time of the last write. */
  updated_at: string;
}

export interface StoreEntry {
  key: string;
  value: Json;
  version: number;
  expires_at: string | null;
  updated_at: string;
}

export interface QuietTime {
  days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
  /** HH:MM */
  from: string;
  to: string;
}

export interface NotificationMessage {
  id: string;
  channel_id: string;
  test: boolean;
  state: State<"Message">;
  title: string;
  attempts: number;
  next_attempt_at: string | null;
  created_at: string;
  finished_at: string | null;
  error: string | null;
}

export interface NotificationChannel {
  id: string;
  name: string;
  kind: "email" | "slack";
  recipients: string[];
  /** Without its secret path. */
  url: string | null;
  agents: string[];
  event_types: string[];
  min_interval_seconds: number;
  time_zone: string;
  quiet_times: QuietTime[];
  state: State<"Channel">;
  next_message_at: string | null;
  latest_message: NotificationMessage | null;
  created_at: string;
  updated_at: string;
}

export interface Webhook {
  id: string;
  url: string;
  description: string;
  event_types: string[];
  agent_id: string | null;
  state: State<"Webhook">;
  message: string | null;
  /** Only in the response to creating or changing it. */
  secret?: string;
  created_at: string;
  updated_at: string;
}

export interface Delivery {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type: string;
  subject: string;
  state: State<"Delivery">;
  attempts: number;
  next_attempt_at: string | null;
  created_at: string;
  finished_at: string | null;
  status: number | null;
  message: string | null;
  attempts_log?: {
    attempt: number;
    started_at: string;
    duration: number;
    status: number | null;
    message: string | null;
  }[];
  request?: Json;
}

export interface Setting {
  name: string;
  environment: string;
  value: string | null;
  default: string | null;
  description: string;
  set: boolean;
}

export interface ApiKey {
  id: string;
  name: string;
  role: Role;
  created_at: string;
  key?: string;
}

/** What can be enforced of an agent's egress; "ports": only the ports of a list, for every address. */
export type EgressScope = "all" | "none" | "ports" | "addresses";

export interface Runtime {
  kind: "local" | "kubernetes";
  python_versions: string[];
  default: string;
  platform: string;
  max_executors: number;
  sandbox: { mechanism: string; landlock_abi: number | null; private_ipc: boolean; message: string | null };
  process_limit: { mechanism: string; max_processes: number | null; message: string | null };
  profiles: string[];
  egress: EgressScope;
  version: string;
  limits: Record<string, number>;
}

export interface DurationPercentiles {
  p50: number;
  p95: number;
  p99: number;
}

export interface PerformanceFigures {
  succeeded: number;
  failed: number;
  timed_out: number;
  cancelled: number;
  lost: number;
  cold_starts: number;
  duration: DurationPercentiles | null;
  queued: DurationPercentiles | null;
  max_memory_bytes: number | null;
}

export interface AgentPerformance {
  from: string;
  to: string;
  interval_seconds: number;
  complete: boolean;
  total: PerformanceFigures;
  intervals: { start: string; figures: PerformanceFigures }[];
  revisions: { revision: number; started_at: string }[];
}

export interface Statistics {
  from: string;
  to: string;
  hours: {
    hour: string;
    succeeded: number;
    failed: number;
    timed_out: number;
    cancelled: number;
    lost: number;
  }[];
  running: number;
  queued: number;
  suspended: number;
  executors: { starting: number; idle: number; working: number; pooled: number; limit: number };
  failures: {
    reason: string;
    count: number;
    agents: number;
    latest: {
      execution_id: string;
      agent_id: string;
      agent_name: string;
      message: string | null;
      finished_at: string;
    };
  }[];
  failed_builds: {
    builder_job_id: string;
    agent_id: string;
    agent_name: string;
    reason: string | null;
    message: string | null;
    finished_at: string;
  }[];
  storage: {
    log_bytes: number;
    payload_bytes: number;
    store_bytes: number;
    free_bytes: number | null;
    full: string | null;
  };
}

/** A state change, from /v1/events. */
export interface Change {
  id: string;
  type: string;
  subject: string;
  agent_id: string | null;
  time: string;
  data: Record<string, unknown>;
}
