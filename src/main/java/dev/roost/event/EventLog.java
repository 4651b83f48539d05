package dev.roost.event;

import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.cluster.Leadership;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Replicas;
import dev.roost.cluster.Signals;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The log of state changes. Triggers of the database note a change in the transaction that makes
 * it; here it gets its position, after the commit.
 *
 * <p>A reader could not go by the order in which events were noted: a transaction that began
 * earlier may commit later, and its events would appear behind the reader's back. So one writer at
 * a time, who holds the lock on {@code event_log}, gives positions to what is committed. Whoever
 * has read up to a position has seen all that is before it. Events of one subject have positions in
 * the order in which they happened, since each change of a row waits for the one before.
 */
@ApplicationScoped
public class EventLog implements EventTail.Source {
  /** The topic that is signalled when events have got their positions. */
  public static final String TOPIC = "events";

  private static final int BATCH = 1_000;

  /** What a consumer waits at most, while the database is there, between change and event. */
  private static final Duration PAUSE = Duration.ofMillis(200);

  private static final Duration CLOCKS_DIFFER = Duration.ofMinutes(1);

  private static final Sql NOTE =
      Sql.of(
          """
          insert into event (type, subject, agent_id, data) values (:type, :subject, cast(:agent as text), :data)""");

  private static final Sql WAITING =
      Sql.of("select exists (select 1 from event where position is null)");

  private static final Sql LOCK = Sql.of("select last_position from event_log for update");

  private static final Sql PLACE =
      Sql.of(
          """
          with next as (
            select id, row_number() over (order by id) as number from (
              select id from event where position is null order by id limit :limit) oldest)
          update event e set position = :last + n.number from next n where e.id = n.id""");

  private static final Sql ADVANCE =
      Sql.of("update event_log set last_position = last_position + :placed");

  private static final Sql BOUNDS = Sql.of("select last_position, removed_to from event_log");

  /** From the newest backwards: what is asked for is recent. */
  private static final Sql BEFORE =
      Sql.of(
          """
          select position from event where position is not null and time < :time order by position desc limit 1""");

  private static final Sql READ =
      Sql.of(
          """
          select position, type, subject, agent_id, time, data from event
          where position > :after and position <= :last
            and (cast(:agent as text) is null or agent_id = :agent)
            and (cast(:subject as text) is null or subject = :subject)
            and (:all or type = any(:types))
          order by position limit :limit""");

  private final Database database;
  private final Signals signals;
  private final Instance<Follower> followers;
  private final Leadership leadership;
  private final Loop loop;
  private volatile boolean stopping;

  EventLog(
      Database database,
      Signals signals,
      Instance<Follower> followers,
      Replicas replicas,
      Loops loops) {
    this.database = database;
    this.signals = signals;
    this.followers = followers;
    this.leadership = replicas;
    this.loop = loops.make("event-log", this::pass);
  }

  /** Does something about events in the transaction in which they get their positions. */
  public interface Follower {
    /**
     * @param first the position of the first of them
     * @param last of the last; there are no gaps between
     */
    void placed(Connection connection, long first, long last) throws SQLException;
  }

  /**
   * A state change.
   *
   * @param id its position: a number that grows, with which a reader goes on after it
   * @param subject the identifier of what has changed
   * @param agentId of the agent that it concerns, or null
   * @param data the resource's main fields after the change, a JSON object
   */
  @Schema(name = "Event")
  public record Entry(
      @Schema(
              examples = "4711",
              description = "Its position in the log: a number, as text, that only grows")
          String id,
      @Schema(
              examples = "execution.failed",
              description = "A resource and what has become of it; docs/events.md lists them")
          String type,
      @Schema(description = "The identifier of what has changed") String subject,
      @Schema(nullable = true, description = "The agent that it concerns; null: it concerns none")
          String agentId,
      @Schema(description = "When the change was made") Instant time,
      @Schema(
              description =
                  "The subject's main fields after the change, a JSON object without"
                      + " payloads, return values, scripts and variables")
          JsonText data) {
    private static Entry read(ResultSet row) throws SQLException {
      return new Entry(
          row.getString("position"),
          row.getString("type"),
          row.getString("subject"),
          row.getString("agent_id"),
          Sql.instant(row, "time"),
          new JsonText(row.getString("data")));
    }

    long position() {
      return Long.parseLong(id);
    }
  }

  /**
   * Which events; null or empty: all.
   *
   * @param types names of types, without patterns
   */
  public record Filter(List<String> types, String agentId, String subject) {
    static final Filter NONE = new Filter(List.of(), null, null);

    boolean matches(Entry entry) {
      return (types == null || types.isEmpty() || types.contains(entry.type()))
          && (agentId == null || agentId.equals(entry.agentId()))
          && (subject == null || subject.equals(entry.subject()));
    }
  }

  /**
   * @param entries in the order of their positions
   * @param next where to go on: behind the last of them, and behind all that the filter left out
   */
  public record Part(List<Entry> entries, long next) {}

  /**
   * Notes what no trigger sees, in the caller's transaction.
   *
   * @param agentId or null
   * @param data a JSON object
   */
  public static void note(
      Connection connection, String type, String subject, String agentId, String data)
      throws SQLException {
    NOTE.with("type", type)
        .with("subject", subject)
        .with("agent", agentId)
        .with("data", data)
        .update(connection);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    stopping = true;
    loop.stop();
  }

  private Duration pass() {
    boolean waiting =
        database.once(
            connection -> WAITING.with().first(connection, row -> row.getBoolean(1)).orElseThrow());
    while (waiting && leadership.isHeld() && !stopping) {
      int placed = place();
      if (placed > 0) {
        signals.fire(TOPIC);
      }
      waiting = placed == BATCH;
    }
    return PAUSE;
  }

  /** Gives positions to the oldest events that have none; answers to how many. */
  int place() {
    return database.inTransaction(
        connection -> {
          long last = LOCK.with().first(connection, row -> row.getLong(1)).orElseThrow();
          // A statement of its own: it sees what was committed while this one waited for the lock.
          int placed = PLACE.with("limit", BATCH).with("last", last).update(connection);
          if (placed > 0) {
            ADVANCE.with("placed", placed).update(connection);
            for (Follower follower : followers) {
              follower.placed(connection, last + 1, last + placed);
            }
          }
          return placed;
        });
  }

  /** The position of the latest event: what happens from now on comes after it. */
  @Override
  public long latest() {
    return bounds().last();
  }

  /** The position of an event from before that time by any clock of the installation. */
  public long before(Instant time) {
    return database
        .once(
            connection ->
                BEFORE
                    .with("time", time.minus(CLOCKS_DIFFER))
                    .first(connection, row -> row.getLong(1)))
        .orElseGet(() -> bounds().removed());
  }

  private record Bounds(long last, long removed) {}

  private Bounds bounds() {
    return database.once(
        connection ->
            BOUNDS
                .with()
                .first(
                    connection,
                    row -> new Bounds(row.getLong("last_position"), row.getLong("removed_to")))
                .orElseThrow());
  }

  /**
   * The first position that a reader has who goes on after that one.
   *
   * @param after 0: from the oldest event that is kept
   * @throws Problem gone when events after it were removed; validation_failed when no event has it
   *     yet
   */
  public long begin(long after) {
    Bounds bounds = bounds();
    if (after == 0) {
      return bounds.removed();
    }
    if (after > bounds.last()) {
      throw Problem.invalid(
          "?after",
          "out_of_range",
          "There is no event " + after + " yet; the latest is " + bounds.last() + ".");
    }
    if (after < bounds.removed()) {
      throw Problem.of(
          ErrorCode.GONE,
          "Events up to %d are removed. Read the present state, then go on after %d."
              .formatted(bounds.removed(), bounds.last()));
    }
    return after;
  }

  /** The next events after a position. */
  @Override
  public Part read(long after, int limit, Filter filter) {
    // Read first: what the query doesn't find up to here is not there, or filtered out.
    long last = bounds().last();
    if (last <= after) {
      return new Part(List.of(), after);
    }
    boolean all = filter.types() == null || filter.types().isEmpty();
    Sql.Bound query =
        READ.with("after", after)
            .with("last", last)
            .with("agent", filter.agentId())
            .with("subject", filter.subject())
            .with("all", all)
            .with("types", all ? new String[0] : filter.types().toArray(String[]::new))
            .with("limit", limit);
    List<Entry> entries = database.once(connection -> query.list(connection, Entry::read));
    boolean more = entries.size() == limit;
    return new Part(entries, more ? entries.get(limit - 1).position() : last);
  }
}
