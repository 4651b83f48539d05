package dev.roost.metrics;

import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.execution.HeldKeys;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jboss.logging.Logger;

/**
 * Metrics from the database, read with one statement. Each part of the statement reads an index of
 * rows that have not ended. The statement runs when metrics are requested, and then not again for
 * some seconds, longer if a long queue makes it slow.
 */
@ApplicationScoped
class DatabaseNumbers {
  private static final Logger LOG = Logger.getLogger(DatabaseNumbers.class);
  private static final long REMEMBER_NANOS = 5_000_000_000L;

  /** Prometheus waits ten seconds, and up to five pass until there is a connection. */
  private static final Duration LIMIT = Duration.ofSeconds(3);

  /** The statement takes at most this fraction of the database's time. */
  private static final int ONE_IN = 20;

  /**
   * Each row has: the subject, one of its kinds, the count, and the age of the oldest in seconds;
   * the latter two may be null. The kinds of queued jobs are those of {@code waiting_on}.
   */
  static final Sql READ =
      Sql.of(
          """
          with running as (
            select agent_id, concurrency_key from execution where state = 'running'),
          busy as (
            select agent_id, count(*) as executions from running group by agent_id),
          queued as (
            select j.not_before, greatest(j.created_at, j.not_before) as since,
              case
                when b.state in ('queued', 'running') then 'build'
                when j.not_before > now() then 'retry_delay'
                when busy.executions >= a.max_concurrency or k.agent_id is not null or j.concurrency_key is not null and """
              + HeldKeys.BY_ANOTHER
              + """
                   then 'concurrency'
                else 'executor' end as waiting_on
            from executor_job j join agent a on a.id = j.agent_id
            join agent_revision r on r.agent_id = j.agent_id and r.revision = j.agent_revision
            join builder_job b on b.id = r.builder_job_id
            left join busy on busy.agent_id = j.agent_id
            left join running k on k.agent_id = j.agent_id and k.concurrency_key = j.concurrency_key
            where j.state = 'queued')
          select 'job' as what, waiting_on as kind, count(*) as count,
            extract(epoch from now() - min(since)) as seconds
          from queued group by waiting_on
          union all
          select 'job', 'suspended', count(*), null from executor_job where state = 'suspended'
          union all
          select 'execution', 'running', count(*), null from running
          union all
          select 'executor', case when x.state = 'ready' and x.agent_id is null then 'pooled' when x.state = 'ready' then case when e.id is null then 'idle' else 'working' end
            else x.state end, count(*), extract(epoch from now() - min(x.created_at))
          from executor x left join execution e on e.executor_id = x.id and e.state = 'running'
          where x.state <> 'ended' group by 2
          union all
          select 'build', state, count(*), extract(epoch from now() - min(coalesce(started_at, created_at)))
          from builder_job where state in ('queued', 'running') group by state
          union all
          select 'delivery', 'pending', count(*), extract(epoch from now() - min(created_at))
          from webhook_delivery where state = 'pending'
          union all
          select 'schedule', 'due', count(*), extract(epoch from now() - min(due_at))
          from schedule where due_at <= now()""");

  private final Database database;
  private Map<Key, Number> numbers = Map.of();
  private boolean reachable;
  private long nextAt = System.nanoTime();

  DatabaseNumbers(Database database) {
    this.database = database;
  }

  private record Key(String what, String kind) {}

  private record Number(double count, double seconds) {
    static final Number NONE = new Number(0, 0);
  }

  /** NaN while the database can't be reached. */
  double count(String what, String kind) {
    Number number = number(what, kind);
    return number == null ? Double.NaN : number.count();
  }

  /** The age of the oldest; 0: there is none; NaN as in {@link #count}. */
  double seconds(String what, String kind) {
    Number number = number(what, kind);
    return number == null ? Double.NaN : Math.max(0, number.seconds());
  }

  synchronized boolean isReachable() {
    refresh();
    return reachable;
  }

  private synchronized Number number(String what, String kind) {
    refresh();
    return reachable ? numbers.getOrDefault(new Key(what, kind), Number.NONE) : null;
  }

  /** Forces a new read on the next request. */
  synchronized void forget() {
    nextAt = System.nanoTime();
  }

  private void refresh() {
    long begun = System.nanoTime();
    if (begun - nextAt < 0) {
      return;
    }
    try {
      Map<Key, Number> read = new HashMap<>();
      database.inTransaction(
          LIMIT,
          connection ->
              READ.with()
                  .list(
                      connection,
                      row ->
                          read.put(
                              new Key(row.getString("what"), row.getString("kind")),
                              new Number(row.getDouble("count"), row.getDouble("seconds")))));
      numbers = read;
      reachable = true;
      long end = System.nanoTime();
      nextAt = end + Math.max(REMEMBER_NANOS, ONE_IN * (end - begun));
    } catch (Database.Failure e) {
      reachable = false;
      nextAt = System.nanoTime() + REMEMBER_NANOS;
      LOG.debugf("the database's numbers cannot be read: %s", e.getMessage());
    }
  }
}
