package dev.roost.datastore;

import dev.roost.db.Sql;

/**
 * The SQL of operations on a held lock, with the steps of {@link WriteStatements}. An execution
 * that has lost a lock may use them.
 */
final class LockStatements {
  private static final String RENEW =
      """
      with access as (
        {access}
      ),
      result as (
        update datastore_lock l set expires_at = statement_timestamp() + make_interval(secs => :ttl)
        from access
        where l.store_id = :store and l.name = :lockName and l.holder = :holder and l.execution_id = :execution
          and not l.lost
        returning l.holder
      )
      select exists (select from access) as granted, result.holder is not null as has_result
      from (select) one left join result on true
      """;

  /** Also releases a lost lock, so that the execution may write again. */
  private static final String UNLOCK =
      """
      with access as (
        {access}
      ),
      locked as materialized (
        select pg_advisory_xact_lock(:recordLock) from access
      ),
      recorded as materialized (
        select datastore_recorded(:scope, :name, :seq) as record from (select count(*) from locked) waited
      ),
      result as (
        delete from datastore_lock l using locked cross join recorded
        where recorded.record is null and l.store_id = :store and l.name = :lockName and l.holder = :holder
          and l.execution_id = :execution
        returning not l.lost as held
      ),
      noted as (
        insert into datastore_receipt (scope, name, seq, answer)
        select cast(:scope as text), :name, :seq, json_build_object('released', held)::text
        from result where cast(:scope as text) is not null
        on conflict (scope, name) do update set seq = excluded.seq, answer = excluded.answer
      )
      select exists (select from access) as granted, cast(null as bytea) as lost_lock,
        (recorded.record).seq, (recorded.record).request_sha256, (recorded.record).answer,
        result.held is not null as has_result, result.*
      from recorded left join result on true
      """;

  final Sql renew;
  final Sql unlock;

  /**
   * @param access the query of {@link Access.Rule} for reads
   */
  LockStatements(String access) {
    renew = Sql.of(RENEW.replace("{access}", access));
    unlock = Sql.of(UNLOCK.replace("{access}", access));
  }
}
