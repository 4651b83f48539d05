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
 * The log of state changes. Database triggers record a change in the transaction of the change;
 * this class assigns the position after the commit.
 *
 * <p>Readers could not rely on the order in which events were recorded: a transaction that began
 * earlier may commit later, and its events would appear before the reader's position. So a single
 * writer at a time, holding the lock on {@code event_log}, assigns positions to committed events. A
 * reader at a position has seen all events before that position. Events of one subject have
 * positions in the order in which they happened, since each change of a row waits for the previous
 * change.
 */
@ApplicationScoped
public class EventLog implements EventTail.Source {
  /** The topic that is signalled when events have received positions. */
  public static final String TOPIC = "events";

  private static final int BATCH = 1_000;

  /** The longest delay between a change and its event while the database is available. */
  private static final Duration PAUSE = Duration.ofMillis(200);

  private static final Duration CLOCKS_DIFFER = Duration.ofMinutes(1);

  private static final Sql NOTE =
      Sql.of(
          """
          insert into event (type, subject, agent_id, data) values (:type, :subject, cast(:agent as text), :data)""");

  private static final Sql WAITING =
      Sql.of("select exists (select 1 from event where position is null) as waiting");

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

  /** Searches backwards, because requested times are usually recent. */
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

  /** Processes events in the transaction that assigns their positions. */
  public interface Follower {
    /**
     * @param first the first position
     * @param last the last position; there are no gaps
     */
    void placed(Connection connection, long first, long last) throws SQLException;
  }

  /**
   * A state change.
   *
   * @param id the event's position, an increasing number from which a reader can resume
   * @param subject the identifier of the changed resource
   * @param agentId the related agent, or null
   * @param data the resource's main fields after the change, a JSON object
   */
  @Schema(name = "Event")
  public record Entry(
      @Schema(
              examples = "4711",
              description = "The position in the log: an increasing number, as a string")
          String id,
      @Schema(
              examples = "execution.failed",
              description = "The type: a resource and its change. docs/events.md lists all types")
          String type,
      @Schema(description = "The identifier of the resource that has changed") String subject,
      @Schema(nullable = true, description = "The agent of the resource; null if it has none")
          String agentId,
      @Schema(description = "When the resource changed") Instant time,
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
   * Selects events; null or empty: all events.
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
   * @param entries sorted by position
   * @param next the position to resume from: after the last entry and all events that the filter
   *     excluded
   */
  public record Part(List<Entry> entries, long next) {}

  /**
   * Records an event without a trigger, in the caller's transaction.
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
            connection ->
                WAITING.with().first(connection, row -> row.getBoolean("waiting")).orElseThrow());
    while (waiting && leadership.isHeld() && !stopping) {
      int placed = place();
      if (placed > 0) {
        signals.fire(TOPIC);
      }
      waiting = placed == BATCH;
    }
    return PAUSE;
  }

  /** Assigns positions to the oldest events without positions; returns the number of events. */
  public int place() {
    return database.inTransaction(
        connection -> {
          long last =
              LOCK.with().first(connection, row -> row.getLong("last_position")).orElseThrow();
          // A separate statement, which sees all commits from the wait for the lock.
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

  /** The position of the latest event; later events have higher positions. */
  @Override
  public long latest() {
    return bounds().last();
  }

  /**
   * The position of an event before that time, allowing for clock differences within the
   * installation.
   */
  public long before(Instant time) {
    return database
        .once(
            connection ->
                BEFORE
                    .with("time", time.minus(CLOCKS_DIFFER))
                    .first(connection, row -> row.getLong("position")))
        .orElseGet(() -> bounds().removed());
  }

  /** Whether a reader at that position has missed events, which were deleted. */
  public boolean hasRemovedAfter(long position) {
    return bounds().removed() > position;
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
   * The initial position of a reader that resumes after the given position.
   *
   * @param after 0: from the oldest stored event
   * @throws Problem gone when later events were removed; validation_failed for a position that does
   *     not exist yet
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
          "Events up to %d have been deleted. Retrieve the current state, then continue after %d."
              .formatted(bounds.removed(), bounds.last()));
    }
    return after;
  }

  /** The next events after a position. */
  @Override
  public Part read(long after, int limit, Filter filter) {
    // Must be read before the query: an event up to this position that the query doesn't return was
    // removed or filtered out.
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
