-- Jobs that scripts submit and wait for.
alter table executor_job_step
  drop constraint executor_job_step_check,
  -- Null: a step, or a sleep if it has until.
  add kind text check (kind = 'call'),
  add called_job_id text,
  add check (result is null or error_type is null),
  -- Only a wait has no outcome yet.
  add check (result is not null or error_type is not null or until is not null or kind is not null);

alter table executor_job
  -- The job whose script has submitted this one, null for most.
  add parent_id text,
  -- The number of jobs above it.
  add depth integer not null default 0,
  -- Has submitted jobs. Reset when those of an ended job have ended, too.
  add has_calls boolean not null default false,
  -- Suspended until all of its calls have ended, not just one.
  add awaits_all boolean not null default false;

create index executor_job_call on executor_job (parent_id) where parent_id is not null;
create index executor_job_caller_ended on executor_job (id) where has_calls and finished_at is not null;
