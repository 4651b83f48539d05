-- The search over logs, errors, payloads and results. The leader fills it after the executions have ended, from the log
-- of events, and from the past in the background. A row is a chunk of some 32 lines, which may be of several executions.
create table search_chunk (
  slot integer not null,
  id bigint not null, -- later chunks have higher numbers; those from before this version have negative ones
  oldest timestamptz not null,
  newest timestamptz not null,
  executions text[] not null, -- the parts of the chunk, in the order of time
  firsts integer[] not null, -- the first line; -1: the error, -2: the payload, -3: the return value
  lasts integer[] not null,
  terms tsvector not null,
  primary key (slot, id)
) partition by list (slot);

-- A GIN index keeps every word that it has ever had, and words of logs are often unique. So a period of time has a table
-- of its own, which is emptied as a whole when its executions are deleted.
create table search_segment (
  slot integer primary key,
  first_id bigint, -- null: the slot is free
  last_id bigint,
  oldest timestamptz,
  newest timestamptz
);

-- A short target: the terms, which only the rare rechecks of the index read, are stored apart from the rows.
do $$
begin
  for slot in 0..31 loop
    execute format(
      'create table search_chunk_%1$s partition of search_chunk for values in (%1$s) with (toast_tuple_target = 256)',
      slot);
  end loop;
end $$;

create index search_chunk_terms on search_chunk using gin (terms) with (gin_pending_list_limit = 1024);

insert into search_segment (slot) select generate_series(0, 31);

-- Executions that run, or have many lines: what is indexed already.
create table search_open (
  execution_id text primary key,
  seq integer not null
);

create table search_progress (
  position bigint not null, -- in the log of events
  begun_at timestamptz not null, -- earlier ends are found by past_time, later ones in the log of events
  past_time timestamptz, -- the executions from before are indexed down to here; null: all of them
  past_id text not null,
  first_id bigint not null,
  last_id bigint not null
);

insert into search_progress
  select coalesce(
      (select position from event where position is not null and time < now() - interval '10 minutes'
       order by position desc limit 1), removed_to),
    now() - interval '5 minutes', now() - interval '5 minutes', '', 0, 0
  from event_log;
