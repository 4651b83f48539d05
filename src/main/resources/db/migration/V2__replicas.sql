-- What an executor has done, for replicas to which it has not talked: whether it has worked at all, and when it ended.
create index execution_executor on execution (executor_id, finished_at);
