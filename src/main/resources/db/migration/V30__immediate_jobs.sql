-- A job for which an executor waits is created together with its first execution. It has the same events as a job that
-- was queued before.
create or replace function executor_job_event() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' and new.state = 'running' then
    insert into event (type, subject, agent_id, data)
    values ('executor_job.queued', new.id, new.agent_id, executor_job_data(new, 'queued', 0, null));
  end if;
  insert into event (type, subject, agent_id, data)
  values ('executor_job.' || new.state, new.id, new.agent_id,
    executor_job_data(new, new.state, new.attempts, new.latest_execution_id));
  return null;
end $$;

create function executor_job_data(job executor_job, state text, attempts integer, execution_id text)
returns json language sql stable as $$
  select json_build_object(
    'id', job.id, 'agent_id', job.agent_id, 'agent_revision', job.agent_revision, 'draft', job.draft_script is not null,
    'schedule_id', job.schedule_id, 'scheduled_time', rfc3339(job.scheduled_time), 'batch_id', job.batch_id,
    'state', state, 'reason', job.reason, 'message', job.message, 'attempts', attempts, 'execution_id', execution_id)
$$;
