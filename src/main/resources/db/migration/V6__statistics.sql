-- For what is counted in the hours gone by, of all agents and of one.
create index execution_finished on execution (finished_at) include (state) where finished_at is not null;
create index execution_agent_finished on execution (agent_id, finished_at) include (state) where finished_at is not null;
create index execution_failed on execution (finished_at) include (reason, agent_id)
  where state in ('failed', 'timed_out', 'lost');
create index builder_job_failed on builder_job (finished_at) where state = 'failed';

-- For lists of few among many.
create index execution_reason on execution (reason, id) where reason is not null;
create index executor_job_reason on executor_job (reason, id) where reason is not null;
create index executor_job_open on executor_job (id) where state in ('queued', 'running');
