-- The durable steps of jobs, as scripts have stored them. The history of a job only grows; of the steps with one path the
-- last one counts. Without a foreign key: it would lock the job's row for each step. Retention removes both.
create table executor_job_step (
  executor_job_id text not null,
  seq integer not null,
  path text not null,
  name text not null,
  execution_id text not null,
  -- JSON text; null: the step has failed.
  result text,
  error_type text,
  error_message text,
  error_traceback text,
  -- JSON text, from which the exception can be created again.
  error_arguments text,
  attempts integer not null,
  seconds double precision not null,
  finished_at timestamptz not null,
  -- Failed, and to be run again by the next attempt of the job.
  open boolean not null default false,
  -- Of this step and all before it, so that the limit needs one row.
  total_bytes bigint not null,
  primary key (executor_job_id, seq),
  check ((result is null) = (error_type is not null))
);
