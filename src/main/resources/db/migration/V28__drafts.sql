-- A job can run a script that is not saved: an edited copy of its revision's. The script is stored with the job, and deleted
-- with it.
alter table executor_job add column draft_script text; -- null: the job runs its revision's script
alter table execution add column draft boolean not null default false;

-- Figures leave drafts out, still without reading the rows.
drop index execution_finished;
drop index execution_agent_finished;
drop index execution_failed;
create index execution_finished on execution (finished_at) include (state, draft) where finished_at is not null;
create index execution_agent_finished on execution (agent_id, finished_at) include (state, draft)
  where finished_at is not null;
create index execution_failed on execution (finished_at) include (reason, agent_id, draft)
  where state in ('failed', 'timed_out', 'lost');

create or replace function executor_job_event() returns trigger language plpgsql as $$
begin
  insert into event (type, subject, agent_id, data)
  values ('executor_job.' || new.state, new.id, new.agent_id, json_build_object(
    'id', new.id, 'agent_id', new.agent_id, 'agent_revision', new.agent_revision, 'draft', new.draft_script is not null,
    'schedule_id', new.schedule_id, 'scheduled_time', rfc3339(new.scheduled_time), 'batch_id', new.batch_id,
    'state', new.state, 'reason', new.reason, 'message', new.message, 'attempts', new.attempts,
    'execution_id', new.latest_execution_id));
  return null;
end $$;

create or replace function execution_event() returns trigger language plpgsql as $$
begin
  insert into event (type, subject, agent_id, data)
  values ('execution.' || new.state, new.id, new.agent_id, json_build_object(
    'id', new.id, 'executor_job_id', new.executor_job_id, 'agent_id', new.agent_id,
    'agent_revision', new.agent_revision, 'draft', new.draft, 'attempt', new.attempt, 'state', new.state,
    'reason', new.reason, 'message', new.message, 'started_at', rfc3339(new.started_at),
    'finished_at', rfc3339(new.finished_at)));
  return null;
end $$;
