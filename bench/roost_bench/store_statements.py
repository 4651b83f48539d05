"""The texts of a store's SQL: copies of those in `Statements`, `StoreAccess`, `Scan`, `Transactions` and `Batch`.

When those change, change these, too.
"""

LIVE = "(e.expires_at is null or e.expires_at > statement_timestamp())"
ENTRY = f"e.store_id = %(store)s and e.key = %(key)s and {LIVE}"

RUNNING = """
select 1 from execution x join agent_store s on s.agent_id = x.agent_id and s.store_id = %(store)s
where x.id = %(execution)s and x.executor_id = %(executor)s and x.state = 'running'"""

ANSWER = "select exists (select from access) as granted, found.* from (select) one left join found on true"

GET = f"""
with access as ({RUNNING}),
found as (
  select e.key, e.value, e.version, e.expires_at, e.updated_at
  from access cross join datastore_entry e where {ENTRY})
{ANSWER}"""

LOCKED = f"""
with granted as ({RUNNING} for share of x),
held as (
  select l.lost from granted cross join datastore_lock l where l.execution_id = %(execution)s for share of l),
access as (select 1 from granted where not exists (select from held where held.lost)),
locked as materialized (
  select pg_advisory_xact_lock_shared(%(storeLock)s), pg_advisory_xact_lock(%(keyLock)s) from access)"""

INSERT = """
insert into datastore_entry as e (store_id, key, value, version, updated_at, expires_at)
select %(store)s, %(key)s, %(value)s, nextval('datastore_version'), statement_timestamp(),
  statement_timestamp() + make_interval(secs => %(ttl)s)"""

CONFLICT = """
on conflict (store_id, key) do update set version = excluded.version, updated_at = excluded.updated_at,"""

REPLACE = " value = excluded.value, expires_at = excluded.expires_at"

RECEIPT = """
noted as (
  insert into datastore_receipt as r (scope, name, seq, answer)
  select %(execution)s, %(channel)s, %(seq)s, json_build_object({})::text from found
  on conflict (scope, name) do update
  set answer = excluded.answer, seq = case when excluded.seq > r.seq then excluded.seq end)"""

SET = f"""
{LOCKED},
found as (
  {INSERT} from locked {CONFLICT}{REPLACE}
  returning e.version, e.xmax = 0 or exists (
    select from datastore_entry b
    where b.store_id = %(store)s and b.key = %(key)s and b.expires_at <= statement_timestamp()) as created),
{RECEIPT.format("'version', version")}
{ANSWER}"""

NUMBER = "'^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?$'"

INCREMENT = f"""
{LOCKED},
found as (
  {INSERT} from locked {CONFLICT}
    value = case when {LIVE} then (e.value::numeric + excluded.value::numeric)::text else excluded.value end,
    expires_at = case when {LIVE} then e.expires_at end
  where not {LIVE} or e.value ~ {NUMBER}
  returning e.value, e.version),
{RECEIPT.format("'value', value, 'version', version")}
{ANSWER}"""

# Without access, locks and receipt: what the table itself costs, with its triggers.
BARE_GET = f"select e.key, e.value, e.version, e.expires_at, e.updated_at from datastore_entry e where {ENTRY}"
BARE_SET = f"{INSERT} {CONFLICT}{REPLACE} returning e.version"

SCAN = f"""
select * from (
  select i.*, count(*) over () as found,
    sum(octet_length(i.value)) over (order by i.key) - octet_length(i.value) as before
  from (
    select e.key, e.version, e.expires_at, e.updated_at, e.value from datastore_entry e
    where e.store_id = %(store)s and {LIVE} and e.key >= %(from)s and e.key < %(to)s and e.key > %(after)s
    order by e.key limit %(limit)s) i) s
where before < 4194304 order by key"""

LOCK_STORE = f"with access as ({RUNNING} for share of x) select pg_advisory_xact_lock(%(storeLock)s) from access"

# The store's lock is one of these here, not a statement of its own.
LOCK_KEYS = """
select case when k.exclusive then pg_advisory_xact_lock(k.number) else pg_advisory_xact_lock_shared(k.number) end
from unnest(%(numbers)b::int8[], %(exclusive)b::bool[]) as k (number, exclusive)"""

CHANGED = f"""
select r.position, coalesce(e.version, 0) as version
from unnest(%(keys)b::bytea[], %(versions)b::int8[]) with ordinality as r (key, version, position)
left join datastore_entry e on e.store_id = %(store)s and e.key = r.key and {LIVE}
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
