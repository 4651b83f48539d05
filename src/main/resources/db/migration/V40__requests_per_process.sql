-- How many executions one process of an agent's executor runs at the same time. Of an executor: the agent's value when
-- it got its agent. With one, an execution has the slot of its executor; with more, each takes any free slot from 1 to
-- max_concurrency, so that the index execution_slot holds the limit in both cases.
alter table agent
  add column requests_per_process integer not null default 1 check (requests_per_process between 1 and 100);

alter table executor
  add column requests_per_process integer not null default 1;

-- Still one execution at a time where executions have the slot of their executor.
drop index execution_of_executor;
create unique index execution_of_executor on execution (executor_id, slot) where state = 'running';
