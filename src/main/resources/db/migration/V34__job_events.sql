-- Events that are sent to scripts, each for one wait.
create table job_event (
  id text primary key,
  name text not null,
  -- The job that it was sent to, or that has received it; null of one with a key that nobody has received.
  executor_job_id text references executor_job on delete cascade,
  -- Null if it was sent to a job.
  key text,
  data text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When a wait got it, which is the entry with this number in the job's history.
  received_at timestamptz,
  seq integer,
  idempotency_key text,
  unique (idempotency_key, name),
  check (executor_job_id is not null or key is not null),
  check ((received_at is null) = (seq is null)),
  check (received_at is null or executor_job_id is not null)
);

create index job_event_of_job on job_event (executor_job_id, id) where executor_job_id is not null;
create index job_event_open_of_job on job_event (executor_job_id, name, id)
  where received_at is null and executor_job_id is not null;
create index job_event_open_of_key on job_event (key, name, id) where received_at is null and key is not null;
create index job_event_expired on job_event (expires_at);

-- The checks aren't validated, which would read the whole table: they only allow more.
alter table executor_job_step
  drop constraint executor_job_step_kind_check,
  add constraint executor_job_step_kind_check check (kind in ('call', 'event')) not valid,
  -- Of a wait for an event, whose end by timeout is "until".
  add column event_name text,
  add column event_key text;

create index executor_job_step_event on executor_job_step (executor_job_id, event_name)
  where kind = 'event' and result is null and error_type is null;
create index executor_job_step_event_key on executor_job_step (event_key, event_name, finished_at)
  where kind = 'event' and result is null and error_type is null and event_key is not null;

alter table executor_job
  -- Of a suspended job; null if an earlier release has suspended it.
  add column suspended_on text;
