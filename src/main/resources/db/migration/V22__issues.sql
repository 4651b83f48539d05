-- Failures of one cause are one issue. The leader groups them after they are committed, from the log of events, so that an
-- execution that ends has nothing to do with issues.
create table issue (
  id text primary key,
  agent_id text not null,
  fingerprint bytea not null unique,
  state text not null check (state in ('open', 'resolved', 'muted')),
  regressed boolean not null default false, -- open again after it was resolved
  title text not null,
  reason text not null,
  exception_type text,
  function text, -- the innermost frame of the script, of the latest failure
  line integer,
  failures bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  first_revision integer not null,
  last_revision integer not null,
  last_execution_id text not null,
  resolved_at timestamptz,
  resolved_revision integer -- what ran when it was resolved; failures of earlier revisions don't open it again
);

create index issue_state on issue (state, id);
create index issue_agent on issue (agent_id, id);

-- Each failed execution is counted once.
create table issue_execution (
  execution_id text primary key,
  issue_id text not null references issue on delete cascade,
  executor_job_id text not null,
  finished_at timestamptz not null
);

create index issue_execution_issue on issue_execution (issue_id, execution_id);

create table issue_hour (
  issue_id text not null references issue on delete cascade,
  hour timestamptz not null,
  failures bigint not null,
  primary key (issue_id, hour)
);

create index issue_hour_hour on issue_hour (hour);

create table issue_revision (
  issue_id text not null references issue on delete cascade,
  revision integer not null,
  failures bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (issue_id, revision)
);

-- Jobs that ran another job again. The root is the first job of the chain, so that the newest job with the same root says
-- what has become of it.
create table issue_replay (
  executor_job_id text primary key,
  source_id text not null,
  root_id text not null
);

create index issue_replay_root on issue_replay (root_id, executor_job_id);

-- How far the leader has come: in the failures from before this version, oldest first, and then in the log of events.
create table issue_progress (
  position bigint not null,
  past_time timestamptz, -- null: all past failures are grouped
  past_id text not null,
  begun_at timestamptz not null -- earlier failures raise no events
);

insert into issue_progress select last_position, 'epoch', '', now() from event_log;
