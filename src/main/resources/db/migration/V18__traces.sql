-- The trace that a job belongs to, as its caller's header "traceparent" had it (W3C Trace Context). Null: it began none.
alter table executor_job add column traceparent text;
