package dev.roost.datastore;

import dev.roost.db.Sql;

/**
 * The SQL of reads, one text for each operation. Each takes {@code access} and {@code result} of
 * the steps of {@link WriteStatements}, and its only row has {@code granted}, {@code has_result}
 * and the columns of {@code result}.
 */
final class ReadStatements {
  private static final String GET =
      """
      with access as (
        {access}
      ),
      result as (
        select e.key, e.value, e.version, e.expires_at, e.updated_at
        from access cross join datastore_entry e
        where e.store_id = :store and e.key = :key
          and (e.expires_at is null or e.expires_at > statement_timestamp())
      )
      select exists (select from access) as granted, result.version is not null as has_result, result.*
      from (select) one left join result on true
      """;

  private static final String COUNT =
      """
      with access as (
        {access}
      ),
      result as (
        select d.entries
          + coalesce((select sum(c.entries) from datastore_change c where c.store_id = d.id), 0)
          - (select count(*) from datastore_entry e
             where e.store_id = d.id and e.expires_at <= statement_timestamp()) as count
        from access cross join datastore d where d.id = :store
      )
      select exists (select from access) as granted, result.count is not null as has_result, result.*
      from (select) one left join result on true
      """;

  private static final String COUNT_BETWEEN =
      """
      with access as (
        {access}
      ),
      result as (
        select count(*) as count from datastore_entry e
        where e.store_id = :store and e.key >= :from and e.key < :to
          and (e.expires_at is null or e.expires_at > statement_timestamp())
      )
      select exists (select from access) as granted, result.count is not null as has_result, result.*
      from (select) one left join result on true
      """;

  final Sql get;
  final Sql count;
  final Sql countBetween;

  /**
   * @param access the query of {@link Access.Rule} for reads
   */
  ReadStatements(String access) {
    get = Sql.of(GET.replace("{access}", access));
    count = Sql.of(COUNT.replace("{access}", access));
    countBetween = Sql.of(COUNT_BETWEEN.replace("{access}", access));
  }
}
