"""The texts of a store's SQL: copies of those in `ReadStatements`, `WriteStatements`, `StoreAccess`, `Scan`,
`Transactions` and `Batch`.

When those change, change these, too.
"""

LIVE = "(e.expires_at is null or e.expires_at > statement_timestamp())"
ENTRY = f"e.store_id = %(store)s and e.key = %(key)s and {LIVE}"

RUNNING = """
select 1 from execution x join agent_store s on s.agent_id = x.agent_id and s.store_id = %(store)s
where x.id = %(execution)s and x.executor_id = %(executor)s and x.state = 'running'"""

GET = f"""
with access as ({RUNNING}),
result as (
  select e.key, e.value, e.version, e.expires_at, e.updated_at
  from access cross join datastore_entry e where {ENTRY})
select exists (select from access) as granted, result.version is not null as has_result, result.*
from (select) one left join result on true"""

RECORDED = f"""
with access as ({RUNNING} for share of x),
held as (
  select l.name, l.lost from access cross join datastore_lock l where l.execution_id = %(execution)s for share of l),
locked as materialized (
  select pg_advisory_xact_lock(%(recordLock)s), pg_advisory_xact_lock_shared(%(storeLock)s),
    pg_advisory_xact_lock(%(keyLock)s)
  from access where not exists (select from held where held.lost)),
recorded as materialized (
  select datastore_recorded(%(execution)s, %(channel)s, %(seq)s) as record from (select count(*) from locked) waited)"""

NOTED = """
noted as (
  insert into datastore_receipt (scope, name, seq, answer)
  select cast(%(execution)s as text), %(channel)s, %(seq)s, json_build_object({})::text
  from result where cast(%(execution)s as text) is not null
  on conflict (scope, name) do update set seq = excluded.seq, answer = excluded.answer)
select exists (select from access) as granted, (select name from held where lost limit 1) as lost_lock,
  (recorded.record).seq, (recorded.record).request_sha256, (recorded.record).answer,
  result.version is not null as has_result, result.*
from recorded left join result on true"""

INSERT = """
insert into datastore_entry as e (store_id, key, value, version, updated_at, expires_at)
select %(store)s, %(key)s, %(value)s, nextval('datastore_version'), statement_timestamp(),
  statement_timestamp() + make_interval(secs => %(ttl)s)"""

REPLACE = """
on conflict (store_id, key) do update
set value = excluded.value, version = excluded.version, updated_at = excluded.updated_at,
  expires_at = excluded.expires_at"""

SET = f"""
{RECORDED},
result as (
  {INSERT}
  from locked cross join recorded where recorded.record is null
  {REPLACE}
  where not %(onlyIfAbsent)s or e.expires_at <= statement_timestamp()
  returning e.version, e.xmax = 0 or exists (
    select from datastore_entry before
    where before.store_id = %(store)s and before.key = %(key)s and before.expires_at <= statement_timestamp())
    as created),
{NOTED.format("'version', version")}"""

INCREMENT = f"""
{RECORDED},
result as (
  insert into datastore_entry as e (store_id, key, value, version, updated_at, expires_at)
  select %(store)s, %(key)s, %(value)s, nextval('datastore_version'), statement_timestamp(), null
  from locked cross join recorded where recorded.record is null
  on conflict (store_id, key) do update
  set value = case when e.expires_at <= statement_timestamp() then excluded.value
      else (e.value::numeric + excluded.value::numeric)::text end,
    version = excluded.version, updated_at = excluded.updated_at,
    expires_at = case when e.expires_at > statement_timestamp() then e.expires_at end
  where e.expires_at <= statement_timestamp() or e.value ~ %(number)s
  returning e.value, e.version),
{NOTED.format("'value', value, 'version', version")}"""

NUMBER = "^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?$"

# Without access, locks and idempotency record: what the table itself costs, with its triggers.
BARE_GET = f"select e.key, e.value, e.version, e.expires_at, e.updated_at from datastore_entry e where {ENTRY}"
BARE_SET = f"{INSERT} {REPLACE} returning e.version"

SCAN = f"""
select * from (
  select i.*, count(*) over () as found,
    sum(octet_length(i.value)) over (order by i.key) - octet_length(i.value) as before
  from (
    select e.key, e.version, e.expires_at, e.updated_at, e.value from datastore_entry e
    where e.store_id = %(store)s and e.key >= %(from)s and e.key < %(to)s and {LIVE}
    order by e.key limit %(limit)s) i) s
where before < 4194304 order by key"""

LOCK_STORE = f"with access as ({RUNNING} for share of x) select pg_advisory_xact_lock(%(storeLock)s) from access"

# The server takes these locks in the statement that checks access; here, the store's lock is one of them.
LOCK_KEYS = """
select case when k.exclusive then pg_advisory_xact_lock(k.number) else pg_advisory_xact_lock_shared(k.number) end
from unnest(%(numbers)b::int8[], %(exclusive)b::bool[]) as k (number, exclusive)"""

CHANGED = f"""
select r.position, coalesce(e.version, 0) as version
from unnest(%(keys)b::bytea[], %(versions)b::int8[]) with ordinality as r (key, version, position)
left join lateral (
  select e.version from datastore_entry e where e.store_id = %(store)s and e.key = r.key and {LIVE} limit 1) e on true
where coalesce(e.version, 0) <> r.version order by r.position limit 10"""

SET_ALL = """
insert into datastore_entry as e (store_id, key, value, version, updated_at, expires_at)
select %(store)s, w.key, w.value, nextval('datastore_version'), statement_timestamp(),
  coalesce(w.expires_at, statement_timestamp() + make_interval(secs => w.ttl))
from unnest(%(keys)b::bytea[], %(values)b::text[], %(ttls)b::float8[], cast(%(expires)s as timestamptz[]))
  as w (key, value, ttl, expires_at)
on conflict (store_id, key) do update set value = excluded.value, version = excluded.version,
  updated_at = excluded.updated_at, expires_at = excluded.expires_at
returning e.key, e.version"""

# Somebody who may use the store.
EXECUTION = """
insert into executor_job (id, agent_id, agent_revision, payload, state, created_at)
values (%(execution)s, 'agent_1', 1, 'null', 'running', now());
insert into execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, attempt, state,
  started_at, cold_start, queued_seconds)
values (%(execution)s, %(execution)s, 'agent_1', 1, 'build_1', %(executor)s, 1, 'running', now(), false, 0)"""
