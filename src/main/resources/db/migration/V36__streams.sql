-- The values that scripts emit, as they came: some of them in a row. Those of an attempt are numbered from 1 without gaps,
-- through all executions that continue it. Without a foreign key, as executor_job_step; retention removes both.
create table stream_chunk (
  executor_job_id text not null,
  attempt integer not null,
  -- The numbers of its values.
  first bigint not null,
  last bigint not null,
  -- JSON texts, a line each.
  data text not null,
  -- Of this chunk and all before it, so that the limit needs one row.
  total_bytes bigint not null,
  primary key (executor_job_id, attempt, last),
  check (first <= last)
);

alter table executor_job_step
  -- How many values it has emitted; a process that continues the attempt doesn't emit them again.
  add column emitted integer not null default 0;

alter table execution
  -- What the script has said last about its progress: from 0 to 1, and a text.
  add column progress double precision,
  add column progress_message text;
