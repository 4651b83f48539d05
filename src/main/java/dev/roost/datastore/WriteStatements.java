package dev.roost.datastore;

import dev.roost.db.Sql;

/**
 * The SQL of operations on entries, one text for each operation. A single operation is one
 * statement, and so one transaction and one round trip. It has these steps:
 *
 * <ol>
 *   <li>{@code access}: whether the user has access, by the query of {@link Access.Rule} in place
 *       of <code>{access}</code>. For a write it locks what the access depends on.
 *   <li>{@code held}: the locks of the execution. An execution that has lost one may not write.
 *       These rows stay locked until the write is committed, so that nobody takes an expired lock
 *       before. Clients have no such rows.
 *   <li>{@code locked}: waits for the locks of {@link KeyLock}, first the one of the idempotency
 *       record. A function of PostgreSQL ignores a lock that is null, so a write without a record
 *       takes none.
 *   <li>{@code recorded}: the record of this write or a later one. It is there when the write is a
 *       repetition, even when the first request was in progress until now, see the function's
 *       migration.
 *   <li>{@code result}: reads, or writes unless there is a record.
 *   <li>{@code noted}: stores the answer to a write that changed something.
 * </ol>
 *
 * <p>The only row reports each step, and {@link Guarded} reads it: {@code granted}, {@code
 * lost_lock}, the record's {@code seq}, {@code request_sha256} and {@code answer}, {@code
 * has_result}, and the columns of {@code result}. No step fails because of what another request has
 * done.
 *
 * <p>The statement's snapshot may be older than the locks. That is harmless: a write always changes
 * the newest row, and an entry that is absent in the snapshot was absent when this operation began.
 */
final class WriteStatements {
  /** An expired entry counts as absent. */
  private static final String SET =
      """
      with access as (
        {access}
      ),
      held as (
        select l.name, l.lost from access cross join datastore_lock l where l.execution_id = :execution
        for share of l
      ),
      locked as materialized (
        select pg_advisory_xact_lock(:recordLock), pg_advisory_xact_lock_shared(:storeLock),
          pg_advisory_xact_lock(:keyLock)
        from access where not exists (select from held where held.lost)
      ),
      recorded as materialized (
        select datastore_recorded(:scope, :name, :seq) as record from (select count(*) from locked) waited
      ),
      result as (
        insert into datastore_entry as e (store_id, key, value, version, updated_at, expires_at)
        select :store, :key, :value, nextval('datastore_version'), statement_timestamp(),
          statement_timestamp() + make_interval(secs => :ttl)
        from locked cross join recorded where recorded.record is null
        on conflict (store_id, key) do update
        set value = excluded.value, version = excluded.version, updated_at = excluded.updated_at,
          expires_at = excluded.expires_at
        where not :onlyIfAbsent or e.expires_at <= statement_timestamp()
        returning e.version, e.xmax = 0 or exists (
          select from datastore_entry before
          where before.store_id = :store and before.key = :key
            and before.expires_at <= statement_timestamp()) as created
      ),
      noted as (
        insert into datastore_receipt (scope, name, seq, answer)
        select cast(:scope as text), :name, :seq, json_build_object('version', version)::text
        from result where cast(:scope as text) is not null
        on conflict (scope, name) do update set seq = excluded.seq, answer = excluded.answer
      )
      select exists (select from access) as granted, (select name from held where lost limit 1) as lost_lock,
        (recorded.record).seq, (recorded.record).request_sha256, (recorded.record).answer,
        result.version is not null as has_result, result.*
      from recorded left join result on true
      """;

  /** Changes an existing entry of any version or, with {@code :versions}, of one of these. */
  private static final String REPLACE =
      """
      with access as (
        {access}
      ),
      held as (
        select l.name, l.lost from access cross join datastore_lock l where l.execution_id = :execution
        for share of l
      ),
      locked as materialized (
        select pg_advisory_xact_lock(:recordLock), pg_advisory_xact_lock_shared(:storeLock),
          pg_advisory_xact_lock(:keyLock)
        from access where not exists (select from held where held.lost)
      ),
      recorded as materialized (
        select datastore_recorded(:scope, :name, :seq) as record from (select count(*) from locked) waited
      ),
      result as (
        update datastore_entry e
        set value = :value, version = nextval('datastore_version'), updated_at = statement_timestamp(),
          expires_at = statement_timestamp() + make_interval(secs => :ttl)
        from locked cross join recorded
        where recorded.record is null and e.store_id = :store and e.key = :key
          and (e.expires_at is null or e.expires_at > statement_timestamp())
          and (cast(:versions as int8[]) is null or e.version = any(:versions))
        returning e.version, false as created
      ),
      noted as (
        insert into datastore_receipt (scope, name, seq, answer)
        select cast(:scope as text), :name, :seq, json_build_object('version', version)::text
        from result where cast(:scope as text) is not null
        on conflict (scope, name) do update set seq = excluded.seq, answer = excluded.answer
      )
      select exists (select from access) as granted, (select name from held where lost limit 1) as lost_lock,
        (recorded.record).seq, (recorded.record).request_sha256, (recorded.record).answer,
        result.version is not null as has_result, result.*
      from recorded left join result on true
      """;

  /** Removes an entry of any version or, with {@code :versions}, of one of these. */
  private static final String DELETE =
      """
      with access as (
        {access}
      ),
      held as (
        select l.name, l.lost from access cross join datastore_lock l where l.execution_id = :execution
        for share of l
      ),
      locked as materialized (
        select pg_advisory_xact_lock(:recordLock), pg_advisory_xact_lock_shared(:storeLock),
          pg_advisory_xact_lock(:keyLock)
        from access where not exists (select from held where held.lost)
      ),
      recorded as materialized (
        select datastore_recorded(:scope, :name, :seq) as record from (select count(*) from locked) waited
      ),
      result as (
        delete from datastore_entry e using locked cross join recorded
        where recorded.record is null and e.store_id = :store and e.key = :key
          and (e.expires_at is null or e.expires_at > statement_timestamp())
          and (cast(:versions as int8[]) is null or e.version = any(:versions))
        returning e.version
      ),
      noted as (
        insert into datastore_receipt (scope, name, seq, answer)
        select cast(:scope as text), :name, :seq, json_build_object('deleted', true, 'version', version)::text
        from result where cast(:scope as text) is not null
        on conflict (scope, name) do update set seq = excluded.seq, answer = excluded.answer
      )
      select exists (select from access) as granted, (select name from held where lost limit 1) as lost_lock,
        (recorded.record).seq, (recorded.record).request_sha256, (recorded.record).answer,
        result.version is not null as has_result, result.*
      from recorded left join result on true
      """;

  private static final String POP =
      """
      with access as (
        {access}
      ),
      held as (
        select l.name, l.lost from access cross join datastore_lock l where l.execution_id = :execution
        for share of l
      ),
      locked as materialized (
        select pg_advisory_xact_lock(:recordLock), pg_advisory_xact_lock_shared(:storeLock),
          pg_advisory_xact_lock(:keyLock)
        from access where not exists (select from held where held.lost)
      ),
      recorded as materialized (
        select datastore_recorded(:scope, :name, :seq) as record from (select count(*) from locked) waited
      ),
      result as (
        delete from datastore_entry e using locked cross join recorded
        where recorded.record is null and e.store_id = :store and e.key = :key
          and (e.expires_at is null or e.expires_at > statement_timestamp())
        returning e.value, e.version
      ),
      noted as (
        insert into datastore_receipt (scope, name, seq, answer)
        select cast(:scope as text), :name, :seq, json_build_object('value', value, 'version', version)::text
        from result where cast(:scope as text) is not null
        on conflict (scope, name) do update set seq = excluded.seq, answer = excluded.answer
      )
      select exists (select from access) as granted, (select name from held where lost limit 1) as lost_lock,
        (recorded.record).seq, (recorded.record).request_sha256, (recorded.record).answer,
        result.version is not null as has_result, result.*
      from recorded left join result on true
      """;

  /** Adds with exact decimal arithmetic; no result: the value is not a number. */
  private static final String INCREMENT =
      """
      with access as (
        {access}
      ),
      held as (
        select l.name, l.lost from access cross join datastore_lock l where l.execution_id = :execution
        for share of l
      ),
      locked as materialized (
        select pg_advisory_xact_lock(:recordLock), pg_advisory_xact_lock_shared(:storeLock),
          pg_advisory_xact_lock(:keyLock)
        from access where not exists (select from held where held.lost)
      ),
      recorded as materialized (
        select datastore_recorded(:scope, :name, :seq) as record from (select count(*) from locked) waited
      ),
      result as (
        insert into datastore_entry as e (store_id, key, value, version, updated_at, expires_at)
        select :store, :key, :amount, nextval('datastore_version'), statement_timestamp(), null
        from locked cross join recorded where recorded.record is null
        on conflict (store_id, key) do update
        set value = case when e.expires_at <= statement_timestamp() then excluded.value
            else (e.value::numeric + excluded.value::numeric)::text end,
          version = excluded.version, updated_at = excluded.updated_at,
          expires_at = case when e.expires_at > statement_timestamp() then e.expires_at end
        where e.expires_at <= statement_timestamp() or e.value ~ :number
        returning e.value, e.version
      ),
      noted as (
        insert into datastore_receipt (scope, name, seq, answer)
        select cast(:scope as text), :name, :seq, json_build_object('value', value, 'version', version)::text
        from result where cast(:scope as text) is not null
        on conflict (scope, name) do update set seq = excluded.seq, answer = excluded.answer
      )
      select exists (select from access) as granted, (select name from held where lost limit 1) as lost_lock,
        (recorded.record).seq, (recorded.record).request_sha256, (recorded.record).answer,
        result.version is not null as has_result, result.*
      from recorded left join result on true
      """;

  /**
   * Begins a transaction of several statements. {@code :alone} excludes all other writes to the
   * store; {@code keys_locked} takes the locks of keys, in the order of the arrays {@code
   * :keyLocks} and {@code :exclusive}, so that the next statement sees what was committed before.
   */
  private static final String ENTER =
      """
      with access as (
        {access}
      ),
      held as (
        select l.name, l.lost from access cross join datastore_lock l where l.execution_id = :execution
        for share of l
      ),
      locked as materialized (
        select pg_advisory_xact_lock(:recordLock), case when :alone then pg_advisory_xact_lock(:storeLock)
          else pg_advisory_xact_lock_shared(:storeLock) end
        from access where not exists (select from held where held.lost)
      ),
      recorded as materialized (
        select datastore_recorded(:scope, :name, :seq) as record from (select count(*) from locked) waited
      ),
      keys_locked as materialized (
        select case when k.exclusive then pg_advisory_xact_lock(k.number)
          else pg_advisory_xact_lock_shared(k.number) end
        from locked cross join recorded cross join unnest(:keyLocks, :exclusive) as k (number, exclusive)
        where recorded.record is null
      )
      select exists (select from access) as granted, (select name from held where lost limit 1) as lost_lock,
        (recorded.record).seq, (recorded.record).request_sha256, (recorded.record).answer,
        false as has_result
      from recorded cross join (select count(*) from keys_locked) waited
      """;

  final Sql set;
  final Sql replace;
  final Sql delete;
  final Sql pop;
  final Sql increment;
  final Sql enter;

  /**
   * @param access the query of {@link Access.Rule} for writes
   */
  WriteStatements(String access) {
    set = Sql.of(SET.replace("{access}", access));
    replace = Sql.of(REPLACE.replace("{access}", access));
    delete = Sql.of(DELETE.replace("{access}", access));
    pop = Sql.of(POP.replace("{access}", access));
    increment = Sql.of(INCREMENT.replace("{access}", access));
    enter = Sql.of(ENTER.replace("{access}", access));
  }
}
