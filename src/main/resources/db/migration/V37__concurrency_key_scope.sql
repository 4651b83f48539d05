-- Until when a job has its concurrency key: until its execution ends, or until the job does.
alter table agent add column concurrency_key_scope text not null default 'execution'
  check (concurrency_key_scope in ('execution', 'job'));

-- Set when its execution begins, if its agent's keys are held by jobs. While the job is suspended or waits to be tried
-- again, no other job with its key begins.
alter table executor_job add column holds_key boolean not null default false;

create unique index executor_job_held_key on executor_job (agent_id, concurrency_key)
  where holds_key and finished_at is null;
