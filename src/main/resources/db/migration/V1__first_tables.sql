-- Identifiers are text with a type prefix and sort by creation. JSON that users gave or scripts returned is text,
-- because jsonb changes it (1.10, -0.0, \u0000, key order).

create table setting (
  name text primary key,
  value text not null
);

create table api_key (
  id text primary key,
  name text not null,
  role text not null check (role in ('read', 'execute', 'write')),
  secret_sha256 bytea not null,
  created_at timestamptz not null
);

create table datastore (
  id text primary key,
  name text not null unique,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- One sequence for all entries: a version is never used twice, so none needs to be kept for a deleted entry.
create sequence datastore_version;

create table datastore_entry (
  store_id text not null references datastore on delete cascade,
  key bytea not null, -- UTF-8: ordered by code point, and U+0000 can be part of it
  value text not null,
  version bigint not null,
  expires_at timestamptz,
  updated_at timestamptz not null,
  primary key (store_id, key)
);

create index datastore_entry_expiry on datastore_entry (expires_at) where expires_at is not null;

create table build (
  id text primary key,
  image_key text not null unique,
  image text,
  python_version text not null,
  packages text not null,
  size_bytes bigint not null,
  duration_seconds double precision not null,
  created_at timestamptz not null
);

create table builder_job (
  id text primary key,
  agent_id text not null,
  agent_revision integer not null,
  python_version text not null,
  requirements text not null,
  image_key text not null,
  state text not null check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  reason text,
  message text,
  build_id text references build,
  reused boolean not null default false,
  log_offset bigint not null default 0,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz
);

create index builder_job_open on builder_job (image_key, id) where state in ('queued', 'running');
create index builder_job_agent on builder_job (agent_id, id);

create table agent (
  id text primary key,
  name text not null,
  revision integer not null,
  timeout_seconds double precision not null,
  memory_mib integer not null,
  cpu double precision not null,
  max_concurrency integer not null,
  max_attempts integer not null,
  retry_delay_seconds double precision not null,
  keep_warm_seconds double precision not null,
  isolation text not null check (isolation in ('process', 'pod')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);

create unique index agent_name on agent (name) where deleted_at is null;

create table agent_revision (
  agent_id text not null references agent,
  revision integer not null,
  script text not null,
  requirements text not null,
  env_vars text not null,
  python_version text not null,
  builder_job_id text not null references builder_job,
  created_at timestamptz not null,
  primary key (agent_id, revision)
);

create table agent_store (
  agent_id text not null references agent,
  store_id text not null references datastore,
  position integer not null,
  primary key (agent_id, store_id)
);

create index agent_store_store on agent_store (store_id);

create table executor (
  id text primary key,
  agent_id text not null,
  agent_revision integer not null,
  build_id text not null,
  state text not null check (state in ('starting', 'ready', 'stopping', 'ended')),
  message text,
  lease_expires_at timestamptz not null,
  created_at timestamptz not null,
  ready_at timestamptz,
  ended_at timestamptz
);

create index executor_live on executor (agent_id) where state <> 'ended';

create table executor_job (
  id text primary key,
  agent_id text not null,
  agent_revision integer not null,
  schedule_id text,
  scheduled_time timestamptz,
  payload text,
  state text not null check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  reason text,
  message text,
  attempts integer not null default 0, -- those that used one up: a lost one that had not entered main is not among them
  not_before timestamptz,
  cancel_requested boolean not null default false,
  latest_execution_id text,
  idempotency_key text,
  request_sha256 bytea,
  created_at timestamptz not null,
  finished_at timestamptz
);

create unique index executor_job_idempotency on executor_job (agent_id, idempotency_key) where idempotency_key is not null;
create index executor_job_queue on executor_job (agent_id, agent_revision, id) where state = 'queued';
create index executor_job_agent on executor_job (agent_id, id);

create table execution (
  id text primary key,
  executor_job_id text not null references executor_job,
  agent_id text not null,
  agent_revision integer not null,
  build_id text not null,
  executor_id text not null,
  attempt integer not null,
  state text not null check (state in ('running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'lost')),
  reason text,
  message text,
  error text,
  return_value text,
  started_at timestamptz not null,
  entered_at timestamptz, -- main was called
  finished_at timestamptz,
  cold_start boolean not null,
  queued_seconds double precision not null,
  cpu_seconds double precision,
  max_memory_bytes bigint,
  log_entries integer not null default 0,
  logs_truncated boolean not null default false,
  acknowledged integer not null default 0 -- the last frame that is stored
);

create unique index execution_of_executor on execution (executor_id) where state = 'running';
create index execution_job on execution (executor_job_id, id);
create index execution_agent on execution (agent_id, id);

-- The log of an Execution or of a BuilderJob.
create table log_entry (
  owner_id text not null,
  seq integer not null,
  time timestamptz not null,
  stream text not null check (stream in ('stdout', 'stderr', 'logging', 'system')),
  level text,
  logger text,
  message text not null,
  continued boolean not null,
  primary key (owner_id, seq)
);
