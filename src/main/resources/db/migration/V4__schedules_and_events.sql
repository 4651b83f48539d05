-- Concurrency. Each executor of an agent has a slot, from 1 to the agent's max_concurrency, alone; its executions have it
-- too. So the rows themselves keep the limit, and nothing has to be counted.
alter table executor
  add column slot integer, -- null: made by a version that knew none
  add column yields boolean not null default false; -- gets no more work, so that another agent's find room
alter table execution
  add column slot integer,
  add column concurrency_key text;

update executor x set slot = numbered.slot
from (
  select id, row_number() over (partition by agent_id order by id) as slot from executor where state <> 'ended') numbered
where x.id = numbered.id;

update execution e set slot = x.slot from executor x where x.id = e.executor_id and e.state = 'running';

create unique index executor_slot on executor (agent_id, slot) where state <> 'ended';
create unique index execution_slot on execution (agent_id, slot) where state = 'running';
create unique index execution_concurrency_key on execution (agent_id, concurrency_key)
  where state = 'running' and concurrency_key is not null;

alter table executor_job
  add column priority integer not null default 0, -- higher ones first
  add column concurrency_key text, -- of an agent's jobs with the same one, one runs at a time
  add column batch_id text; -- the first job of those that were ordered together

drop index executor_job_queue;
create index executor_job_queue on executor_job (agent_id, agent_revision, priority desc, id) where state = 'queued';
create index executor_job_batch on executor_job (batch_id, id) where batch_id is not null;

alter table agent add column never_retry text[] not null default '{}'; -- reasons

-- Schedules. A scheduled time becomes at most one job, whoever makes it.
create table schedule (
  id text primary key,
  agent_id text not null references agent,
  name text not null,
  cron text not null,
  time_zone text not null, -- IANA
  payload text,
  state text not null check (state in ('active', 'paused')),
  missed_runs text not null check (missed_runs in ('skip', 'run_once', 'run_all')),
  missed_runs_limit integer not null,
  overlap text not null check (overlap in ('allow', 'skip', 'queue')),
  jitter_seconds double precision not null,
  starts_at timestamptz,
  ends_at timestamptz,
  next_run_at timestamptz, -- null: never again, or not as long as it is paused
  due_at timestamptz, -- the same, with the jitter
  last_scheduled_time timestamptz,
  last_executor_job_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null, -- by a person
  unique (agent_id, name)
);

create index schedule_due on schedule (due_at) where due_at is not null;
create unique index executor_job_scheduled_time on executor_job (schedule_id, scheduled_time) where schedule_id is not null;
create index executor_job_schedule on executor_job (schedule_id, id) where schedule_id is not null;
create index executor_job_schedule_open on executor_job (schedule_id)
  where schedule_id is not null and state in ('queued', 'running');

-- The log of state changes. Triggers write it, so that no change is forgotten, whatever statement makes it. Transactions
-- commit in another order than they draw identifiers in, so a reader could not go by those; positions are given after
-- the commit, by one writer at a time (the lock on event_log), and so only grow.
create table event (
  id bigint generated always as identity primary key,
  position bigint,
  type text not null,
  subject text not null, -- the identifier of what has changed
  agent_id text,
  data text not null, -- JSON
  time timestamptz not null default clock_timestamp()
);

create unique index event_position on event (position) where position is not null;
create index event_unplaced on event (id) where position is null;

create table event_log (
  last_position bigint not null,
  removed_to bigint not null -- events up to this one are removed
);
insert into event_log values (0, 0);

create function rfc3339(t timestamptz) returns text language sql stable as $$
  select to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

create function executor_job_event() returns trigger language plpgsql as $$
begin
  insert into event (type, subject, agent_id, data)
  values ('executor_job.' || new.state, new.id, new.agent_id, json_build_object(
    'id', new.id, 'agent_id', new.agent_id, 'agent_revision', new.agent_revision, 'schedule_id', new.schedule_id,
    'scheduled_time', rfc3339(new.scheduled_time), 'batch_id', new.batch_id, 'state', new.state, 'reason', new.reason,
    'message', new.message, 'attempts', new.attempts, 'execution_id', new.latest_execution_id));
  return null;
end $$;

create function execution_event() returns trigger language plpgsql as $$
begin
  insert into event (type, subject, agent_id, data)
  values ('execution.' || new.state, new.id, new.agent_id, json_build_object(
    'id', new.id, 'executor_job_id', new.executor_job_id, 'agent_id', new.agent_id,
    'agent_revision', new.agent_revision, 'attempt', new.attempt, 'state', new.state, 'reason', new.reason,
    'message', new.message, 'started_at', rfc3339(new.started_at), 'finished_at', rfc3339(new.finished_at)));
  return null;
end $$;

create function builder_job_event() returns trigger language plpgsql as $$
begin
  insert into event (type, subject, agent_id, data)
  values ('builder_job.' || new.state, new.id, new.agent_id, json_build_object(
    'id', new.id, 'agent_id', new.agent_id, 'agent_revision', new.agent_revision, 'state', new.state,
    'reason', new.reason, 'message', new.message, 'build_id', new.build_id, 'reused', new.reused));
  return null;
end $$;

create function agent_event() returns trigger language plpgsql as $$
begin
  insert into event (type, subject, agent_id, data)
  values (
    case when tg_op = 'INSERT' then 'agent.created' when new.deleted_at is not null then 'agent.deleted'
      else 'agent.updated' end,
    new.id, new.id, json_build_object('id', new.id, 'name', new.name, 'revision', new.revision));
  return null;
end $$;

create function schedule_event() returns trigger language plpgsql as $$
declare
  s schedule := coalesce(new, old);
begin
  insert into event (type, subject, agent_id, data)
  values (
    case when tg_op = 'INSERT' then 'schedule.created' when tg_op = 'DELETE' then 'schedule.deleted'
      when new.state = old.state then 'schedule.updated' when new.state = 'paused' then 'schedule.paused'
      else 'schedule.resumed' end,
    s.id, s.agent_id, json_build_object('id', s.id, 'agent_id', s.agent_id, 'name', s.name, 'cron', s.cron,
      'time_zone', s.time_zone, 'state', s.state, 'next_run_at', rfc3339(s.next_run_at)));
  return null;
end $$;

create function datastore_event() returns trigger language plpgsql as $$
declare
  d datastore := coalesce(new, old);
begin
  insert into event (type, subject, data)
  values (case when tg_op = 'INSERT' then 'datastore.created' else 'datastore.deleted' end, d.id,
    json_build_object('id', d.id, 'name', d.name));
  return null;
end $$;

create trigger executor_job_made after insert on executor_job
  for each row execute function executor_job_event();
create trigger executor_job_changed after update of state on executor_job
  for each row when (old.state <> new.state) execute function executor_job_event();
create trigger execution_made after insert on execution
  for each row execute function execution_event();
create trigger execution_changed after update of state on execution
  for each row when (old.state <> new.state) execute function execution_event();
create trigger builder_job_made after insert on builder_job
  for each row execute function builder_job_event();
create trigger builder_job_changed after update of state on builder_job
  for each row when (old.state <> new.state) execute function builder_job_event();
create trigger agent_made after insert on agent
  for each row execute function agent_event();
create trigger agent_changed after update on agent
  for each row when (old.updated_at <> new.updated_at or old.deleted_at is distinct from new.deleted_at)
  execute function agent_event();
create trigger schedule_made after insert or delete on schedule
  for each row execute function schedule_event();
create trigger schedule_changed after update on schedule
  for each row when (old.updated_at <> new.updated_at) execute function schedule_event();
create trigger datastore_made after insert or delete on datastore
  for each row execute function datastore_event();

-- Webhooks: who is told of events, what is still to be told, and what came of each attempt.
create table webhook (
  id text primary key,
  url text not null,
  description text not null,
  event_types text[] not null, -- 'execution.failed', 'execution.*' or '*'
  agent_id text, -- only of this agent; null: of all
  secret text not null, -- whsec_ and base64
  previous_secret text,
  previous_secret_until timestamptz,
  state text not null check (state in ('active', 'disabled')),
  message text, -- why Roost has disabled it
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table webhook_delivery (
  id text primary key,
  webhook_id text not null references webhook on delete cascade,
  position bigint not null, -- of the event
  event_type text not null,
  subject text not null,
  state text not null check (state in ('pending', 'succeeded', 'failed')),
  attempts integer not null default 0,
  give_up_at timestamptz, -- a day after the first attempt; null before that
  next_attempt_at timestamptz, -- null when it is not pending, or waits behind an earlier one of its subject
  created_at timestamptz not null,
  finished_at timestamptz,
  unique (webhook_id, position)
);

create index webhook_delivery_due on webhook_delivery (webhook_id, next_attempt_at, position) where state = 'pending';
create index webhook_delivery_subject on webhook_delivery (webhook_id, subject, position) where state = 'pending';
create index webhook_delivery_position on webhook_delivery (position);

create table webhook_attempt (
  delivery_id text not null references webhook_delivery on delete cascade,
  attempt integer not null,
  started_at timestamptz not null,
  duration_seconds double precision not null,
  status integer, -- of HTTP; null when there was no answer
  message text, -- why it did not succeed
  primary key (delivery_id, attempt)
);

create function webhook_event() returns trigger language plpgsql as $$
begin
  insert into event (type, subject, agent_id, data)
  values ('webhook.disabled', new.id, null, json_build_object('id', new.id, 'message', new.message));
  return null;
end $$;

create trigger webhook_disabled after update of state on webhook
  for each row when (old.state <> new.state and new.state = 'disabled') execute function webhook_event();

-- Retention. A Build whose image or environment is removed stays for the history and is not used again, unless it is
-- made again. What removes looks for what refers to it.
alter table build
  add column removed_at timestamptz,
  add column removal text check (removal in ('due', 'begun')); -- of image or environment; null: there is none to do

create index build_removal on build (id) where removal is not null;
create index build_digest on build (split_part(image, '@', 2)) where removed_at is null;
create index builder_job_build on builder_job (build_id, finished_at);
create index agent_revision_builder_job on agent_revision (builder_job_id);
create index executor_build on executor (build_id, ended_at);
create index agent_deleted on agent (deleted_at) where deleted_at is not null;

-- What tells this installation from others, in what it sends.
insert into setting (name, value) values ('installation', gen_random_uuid()::text);
