package dev.roost.datastore;

import dev.roost.db.Sql;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The SQL of operations on entries. A single operation is one statement, and so one transaction and
 * one round trip: it checks access, takes the locks of {@link KeyLock}, reads or writes, and stores
 * the idempotency record. The only row has {@code granted} and, when something was found or
 * changed, the other columns; otherwise the caller determines the cause.
 */
final class Statements {
  /** For a row {@code e}, at the start of the statement. */
  static final String LIVE = "(e.expires_at is null or e.expires_at > statement_timestamp())";

  /** The number of entries of a row {@code d} of datastore, without expired ones. */
  static final String ENTRIES =
      """
      (d.entries + coalesce((select sum(c.entries) from datastore_change c where c.store_id = d.id), 0)
        - (select count(*) from datastore_entry e
           where e.store_id = d.id and e.expires_at <= statement_timestamp()))""";

  /** The bytes of keys and values, without expired entries. */
  static final String SIZE_BYTES =
      """
      (d.size_bytes + coalesce((select sum(c.size_bytes) from datastore_change c where c.store_id = d.id), 0)
        - (select coalesce(sum(octet_length(e.key) + octet_length(e.value)), 0) from datastore_entry e
           where e.store_id = d.id and e.expires_at <= statement_timestamp()))""";

  private static final String ENTRY = "e.store_id = :store and e.key = :key and " + LIVE;

  private static final String EXPIRES = "statement_timestamp() + make_interval(secs => :ttl)";

  private static final String INSERT =
      """
      insert into datastore_entry as e (store_id, key, value, version, updated_at, expires_at)
      select :store, :key, :value, nextval('datastore_version'), statement_timestamp(), %s from locked
      on conflict (store_id, key) do update set version = excluded.version, updated_at = excluded.updated_at,
      """
          .formatted(EXPIRES);

  private static final String REPLACE =
      INSERT + "value = excluded.value, expires_at = excluded.expires_at";

  /** The result of an insert; an expired entry counts as absent. */
  private static final String WRITTEN =
      """

      returning e.version, e.xmax = 0 or exists (
        select from datastore_entry b
        where b.store_id = :store and b.key = :key and b.expires_at <= statement_timestamp()) as created""";

  private static final String UPDATE =
      """
      update datastore_entry e set value = :value, version = nextval('datastore_version'),
        updated_at = statement_timestamp(), expires_at = %s
      from locked where %s"""
          .formatted(EXPIRES, ENTRY);

  private static final String DELETE = "delete from datastore_entry e using locked where " + ENTRY;

  /** A number of RFC 8259, as a pattern for PostgreSQL and for Java. */
  static final String NUMBER = "^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?$";

  /** Adds to the number in a row {@code e}, with exact decimal arithmetic. */
  static final String SUM =
      """

      value = case when %1$s then (e.value::numeric + excluded.value::numeric)::text else excluded.value end,
        expires_at = case when %1$s then e.expires_at end
      where not %1$s or e.value ~ '%2$s'
      """
          .formatted(LIVE, NUMBER);

  private static final String INCREMENT = INSERT + SUM + " returning e.value, e.version";

  private static final Map<Access.Rule, Statements> ALL = new ConcurrentHashMap<>();

  final Sql access;
  final Sql get;
  final Sql count;
  final Sql countBetween;
  final Sql set;
  final Sql setAbsent;
  final Sql setPresent;
  final Sql setVersions;
  final Sql delete;
  final Sql deleteVersions;
  final Sql pop;
  final Sql increment;
  final Sql shareStore;
  final Sql lockStore;

  /**
   * Locks the condition for access, and ignores lost locks. For executions only, like the next two.
   */
  final Sql stay;

  final Sql renew;
  final Sql unlock;

  static Statements of(Access.Rule rule) {
    return ALL.computeIfAbsent(rule, Statements::new);
  }

  private Statements(Access.Rule rule) {
    String reads = "with access as (" + rule.reads() + ")";
    access = Sql.of(reads + " select 1 from access");
    get =
        single(
            reads,
            """
            select e.key, e.value, e.version, e.expires_at, e.updated_at
            from access cross join datastore_entry e where %s"""
                .formatted(ENTRY),
            "");
    count =
        single(
            reads,
            "select %s as count from access cross join datastore d where d.id = :store"
                .formatted(ENTRIES),
            "");
    countBetween =
        single(
            reads,
            """
            select count(*) as count from datastore_entry e
            where e.store_id = :store and e.key >= :from and e.key < :to and %s"""
                .formatted(LIVE),
            "");

    String writes =
        rule.ofExecutions() ? unlessLockIsLost(rule) : "with access as (" + rule.writes() + ")";
    // The statement's snapshot may be older than the locks. That is harmless: the statement
    // always changes the newest row, and an entry that is absent in the snapshot was absent when
    // this operation began.
    String locked =
        writes
            + """
            , locked as materialized (
              select pg_advisory_xact_lock_shared(:storeLock), pg_advisory_xact_lock(:keyLock) from access)""";
    String versions = " and e.version = any(:versions)";
    String version = receipt(rule, "'version', version");
    String deleted = receipt(rule, "'deleted', true, 'version', version");
    String valueAndVersion = receipt(rule, "'value', value, 'version', version");
    set = single(locked, REPLACE + WRITTEN, version);
    setAbsent = single(locked, REPLACE + " where not " + LIVE + WRITTEN, version);
    setPresent = single(locked, UPDATE + " returning e.version, false as created", version);
    setVersions =
        single(locked, UPDATE + versions + " returning e.version, false as created", version);
    delete = single(locked, DELETE + " returning e.version", deleted);
    deleteVersions = single(locked, DELETE + versions + " returning e.version", deleted);
    pop = single(locked, DELETE + " returning e.value, e.version", valueAndVersion);
    increment = single(locked, INCREMENT, valueAndVersion);
    shareStore = Sql.of(writes + " select pg_advisory_xact_lock_shared(:storeLock) from access");
    lockStore = Sql.of(writes + " select pg_advisory_xact_lock(:storeLock) from access");

    String lock =
        "l.store_id = :store and l.name = :name and l.holder = :holder and l.execution_id = :execution";
    stay = Sql.of("with access as (" + rule.writes() + ") select 1 from access");
    renew =
        single(
            reads,
            """
            update datastore_lock l set expires_at = statement_timestamp() + make_interval(secs => :ttl)
            from access where %s and not l.lost returning true as held"""
                .formatted(lock),
            "");
    unlock =
        single(
            reads,
            "delete from datastore_lock l using access where "
                + lock
                + " returning not l.lost as held",
            receipt(rule, "'released', held"));
  }

  private static Sql single(String access, String operation, String receipt) {
    return Sql.of(
        """
        %s,
        found as (
        %s)%s
        select exists (select from access) as granted, found.* from (select) one left join found on true"""
            .formatted(access, operation, receipt));
  }

  /**
   * An execution that has lost a lock may not write. The rows of its locks stay locked until the
   * write is committed, so that nobody takes an expired lock before.
   */
  private static String unlessLockIsLost(Access.Rule rule) {
    return """
    with granted as (%s),
    held as (
      select l.lost from granted cross join datastore_lock l where l.execution_id = :execution for share of l),
    access as (select 1 from granted where not exists (select from held where held.lost))"""
        .formatted(rule.writes());
  }

  /** Stores the answer; fails if there is a record already. */
  private static String receipt(Access.Rule rule, String answer) {
    return rule.ofExecutions()
        ? """
        ,
        noted as (
          insert into datastore_receipt as r (scope, name, seq, answer)
          select :execution, :channel, :seq, json_build_object(%s)::text from found%s)"""
            .formatted(answer, IdempotencyRecords.ONCE)
        : "";
  }
}
