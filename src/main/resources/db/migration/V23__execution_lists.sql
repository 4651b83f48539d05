-- Lists and counts of executions that did not succeed: few among many.
create index execution_unsuccessful on execution (id) include (state)
  where state in ('failed', 'timed_out', 'cancelled', 'lost');
