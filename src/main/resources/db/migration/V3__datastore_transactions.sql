-- What a store holds is counted as it changes, so that len() and listings need not read it. Writers don't meet at one
-- row: each statement adds its difference, and the leader adds the differences up (datastore.entries, .size_bytes).
alter table datastore
  add column entries bigint not null default 0,
  add column size_bytes bigint not null default 0; -- of keys and values

create table datastore_change (
  store_id text not null,
  entries bigint not null,
  size_bytes bigint not null,
  changed_at timestamptz not null default statement_timestamp()
);

create index datastore_change_store on datastore_change (store_id);

create function datastore_entry_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into datastore_change (store_id, entries, size_bytes)
    select store_id, count(*), sum(octet_length(key) + octet_length(value)) from added group by store_id;
  elsif tg_op = 'DELETE' then
    insert into datastore_change (store_id, entries, size_bytes)
    select store_id, -count(*), -sum(octet_length(key) + octet_length(value)) from removed group by store_id;
  else
    insert into datastore_change (store_id, entries, size_bytes)
    select store_id, 0, sum(size_bytes) from (
      select store_id, octet_length(value) as size_bytes from added
      union all
      select store_id, -octet_length(value) from removed) changed
    group by store_id;
  end if;
  return null;
end $$;

create trigger datastore_entry_added after insert on datastore_entry
  referencing new table as added for each statement execute function datastore_entry_changed();
create trigger datastore_entry_removed after delete on datastore_entry
  referencing old table as removed for each statement execute function datastore_entry_changed();
create trigger datastore_entry_replaced after update on datastore_entry
  referencing old table as removed new table as added for each statement execute function datastore_entry_changed();

-- The triggers' locks keep writers out until all is counted.
update datastore s set entries = counted.entries, size_bytes = counted.size_bytes
from (
  select store_id, count(*) as entries, sum(octet_length(key) + octet_length(value)) as size_bytes
  from datastore_entry group by store_id) counted
where s.id = counted.store_id;

-- The last answer that each connection of a script, or each idempotency key of a client, has got: a write that is sent
-- again is not done again. scope is the execution or the store.
create table datastore_receipt (
  scope text not null,
  name text not null,
  seq bigint not null,
  request_sha256 bytea, -- of a client's request
  answer text not null, -- JSON
  created_at timestamptz not null default statement_timestamp(),
  primary key (scope, name)
) with (fillfactor = 50);

create index datastore_receipt_age on datastore_receipt (created_at) where request_sha256 is not null;

-- Who holds the lock of that name, and who has lost it and doesn't know yet.
create table datastore_lock (
  store_id text not null references datastore on delete cascade,
  name bytea not null,
  holder text not null, -- chosen by whoever acquires it, so that asking twice is harmless
  execution_id text not null,
  expires_at timestamptz not null,
  lost boolean not null default false, -- the lease ran out and someone else took the lock
  primary key (store_id, name, holder)
);

create unique index datastore_lock_held on datastore_lock (store_id, name) where not lost;
create index datastore_lock_execution on datastore_lock (execution_id);
