-- Jobs that wait without a process. The checks aren't validated, which would read the whole tables: they only allow more.
alter table executor_job
  drop constraint executor_job_state_check,
  add constraint executor_job_state_check
    check (state in ('queued', 'running', 'suspended', 'succeeded', 'failed', 'cancelled')) not valid,
  -- When a suspended job continues.
  add resume_at timestamptz,
  -- Queued to continue, not for another attempt.
  add resumed boolean not null default false;

create index executor_job_resume on executor_job (resume_at) where state = 'suspended';
create index executor_job_suspended on executor_job (agent_id, agent_revision) where state = 'suspended';
create index executor_job_schedule_suspended on executor_job (schedule_id)
  where schedule_id is not null and state = 'suspended';

alter table execution
  drop constraint execution_state_check,
  add constraint execution_state_check
    check (state in ('running', 'suspended', 'succeeded', 'failed', 'timed_out', 'cancelled', 'lost')) not valid;

alter table executor_job_step
  drop constraint executor_job_step_check,
  -- Of a sleep: when it ends.
  add until timestamptz,
  add check ((result is null) = (error_type is not null or until is not null));
