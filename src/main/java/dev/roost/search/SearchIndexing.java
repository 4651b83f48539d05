package dev.roost.search;

import dev.roost.cluster.Loop;
import dev.roost.cluster.Loops;
import dev.roost.cluster.Replicas;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import dev.roost.event.EventLog;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Indexes executions for the search, after they have ended, and the lines of running ones from time
 * to time. So storing a line of a log does nothing for the search.
 *
 * <p>Executions that ended before the index existed are indexed in the background, the newest
 * first. Each step is a transaction of bounded size that moves the position by compare-and-set.
 */
@ApplicationScoped
class SearchIndexing {
  private static final Duration PAUSE = Duration.ofSeconds(2);

  /** How often lines of running executions are indexed: the more often, the smaller the chunks. */
  private static final Duration WHILE_RUNNING = Duration.ofSeconds(10);

  private static final int EXECUTIONS = 200;

  /** The maximum number of lines of a step. */
  static final int LINES = 5_000;

  private static final EventLog.Filter ENDS =
      new EventLog.Filter(
          List.of(
              "execution.succeeded",
              "execution.failed",
              "execution.timed_out",
              "execution.cancelled",
              "execution.lost"),
          null,
          null);

  private static final Sql PROGRESS =
      Sql.of(
          "select position, begun_at, past_time, past_id, first_id, last_id from search_progress");

  private static final Sql LOCK = Sql.of(PROGRESS.text() + " for update");

  private static final Sql MOVE =
      Sql.of(
          """
          update search_progress set position = :position, past_time = cast(:pastTime as timestamptz),
            past_id = :pastId, first_id = :first, last_id = :last""");

  private static final Sql START_AGAIN =
      Sql.of(
          """
          update search_progress set position = :position, begun_at = :begun, past_time = :begun, past_id = ''
          where position = :before""");

  private static final String COLUMNS =
      "e.id, e.agent_id, coalesce(e.finished_at, :now) as finished_at, e.log_entries, coalesce(o.seq, 0) as seq ";

  private static final Sql ENDED =
      Sql.of(
          "select "
              + COLUMNS
              + """
              from execution e left join search_open o on o.execution_id = e.id
              where e.id = any(:ids) and e.finished_at >= :begun""");

  static final Sql PAST =
      Sql.of(
          "select "
              + COLUMNS
              + """
              from execution e left join search_open o on o.execution_id = e.id
              where e.finished_at <= :time and (e.finished_at, e.id) < (:time, :id)
              order by e.finished_at desc, e.id desc limit :limit""");

  private static final Sql RUNNING =
      Sql.of(
          "select "
              + COLUMNS
              + """
              from execution e left join search_open o on o.execution_id = e.id
              where e.state = 'running' and e.log_entries > coalesce(o.seq, 0) limit :limit""");

  private static final Sql ENTRIES =
      Sql.of(
          """
          select x.number, l.seq, l.time, l.stream, l.level, l.message
          from unnest(:ids, :after) with ordinality as x(id, after, number)
          join lateral (select * from log_entry where owner_id = x.id and seq > x.after order by seq limit :limit) l
            on true""");

  private static final Sql TEXTS =
      Sql.of(
          """
          select e.id, left(coalesce(e.error, e.message), :most) as error, left(j.payload, :most) as payload,
            left(e.return_value, :most) as result
          from execution e join executor_job j on j.id = e.executor_job_id where e.id = any(:ids)""");

  private static final Sql KEEP_OPEN =
      Sql.of(
          """
          insert into search_open (execution_id, seq) select * from unnest(:ids, :seqs)
          on conflict (execution_id) do update set seq = excluded.seq""");

  private static final Sql CLOSE = Sql.of("delete from search_open where execution_id = any(:ids)");

  private final Database database;
  private final EventLog events;
  private final Replicas replicas;
  private final Duration retention;
  private final ThrottledBatches batches;
  private final Loop loop;
  private long runningAt = System.nanoTime();

  SearchIndexing(
      Database database, EventLog events, Replicas replicas, RoostConfig config, Loops loops) {
    this.database = database;
    this.events = events;
    this.replicas = replicas;
    this.retention = config.retention().executions();
    this.batches = new ThrottledBatches(database, replicas::isHeld);
    this.loop = loops.make("search", this::pass);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    batches.stop();
    loop.stop();
  }

  /**
   * @param pastTime null: the past is indexed
   */
  record Progress(
      long position, Instant begunAt, Instant pastTime, String pastId, long firstId, long lastId) {}

  /**
   * @param after the last line that is indexed
   */
  private record Part(String id, String agentId, Instant finishedAt, int entries, int after) {}

  private Duration pass() {
    try {
      while (indexEnded()) {
        // Until none is left.
      }
      if (System.nanoTime() - runningAt >= 0) {
        runningAt = System.nanoTime() + WHILE_RUNNING.toNanos();
        while (indexRunning()) {
          // The same.
        }
      }
      return indexPast() ? Duration.ZERO : PAUSE;
    } catch (ThrottledBatches.Interrupted e) {
      return PAUSE; // Another replica continues, or this one when it leads again.
    }
  }

  static Progress progress(Connection connection) throws SQLException {
    return read(connection, PROGRESS);
  }

  private static Progress read(Connection connection, Sql select) throws SQLException {
    return select
        .with()
        .first(
            connection,
            row ->
                new Progress(
                    row.getLong("position"),
                    Sql.instant(row, "begun_at"),
                    Sql.instant(row, "past_time"),
                    row.getString("past_id"),
                    row.getLong("first_id"),
                    row.getLong("last_id")))
        .orElseThrow();
  }

  /** Indexes the next executions that have ended; returns whether there may be more. */
  boolean indexEnded() {
    long position = database.once(SearchIndexing::progress).position();
    if (events.hasRemovedAfter(position)) {
      Instant begun = Instant.now().minus(Duration.ofMinutes(10));
      return startAgain(position, events.before(begun.minus(Duration.ofMinutes(5))), begun);
    }
    EventLog.Part part = events.read(position, EXECUTIONS, ENDS);
    if (part.next() == position) {
      return false;
    }
    return batches.step(
        connection -> {
          Progress progress = read(connection, LOCK);
          if (progress.position() != position) {
            return false;
          }
          List<String> ids = part.entries().stream().map(EventLog.Entry::subject).toList();
          Map<String, Part> known = new HashMap<>();
          if (!ids.isEmpty()) {
            parts(
                    ENDED.with("ids", ids.toArray(String[]::new)).with("begun", progress.begunAt()),
                    connection)
                .forEach(one -> known.put(one.id(), one));
          }
          List<Part> chosen = new ArrayList<>();
          long next = part.next();
          long last = position;
          long lines = 0;
          for (EventLog.Entry entry : part.entries()) {
            Part one = known.get(entry.subject());
            int count = one == null ? 0 : one.entries() - one.after();
            if (lines + count > LINES && !chosen.isEmpty()) {
              next = last;
              break;
            }
            lines += count;
            last = Long.parseLong(entry.id());
            if (one != null) {
              chosen.add(one);
            }
          }
          Indexed indexed = index(connection, chosen, true, false, progress.lastId() + 1);
          long moved = indexed.isComplete() ? next : position;
          move(
              connection,
              progress,
              moved,
              progress.pastTime(),
              progress.pastId(),
              0,
              indexed.chunks());
          return moved != part.next() || part.entries().size() == EXECUTIONS;
        });
  }

  private boolean startAgain(long before, long position, Instant begun) {
    // Events that nobody has read were deleted. What is indexed may not be indexed twice.
    return batches.step(
        connection -> {
          read(connection, LOCK);
          boolean first =
              START_AGAIN
                      .with("position", position)
                      .with("begun", begun)
                      .with("before", before)
                      .update(connection)
                  > 0;
          if (first) {
            SearchSegments.remove(connection, Instant.MAX);
            Sql.of("delete from search_open").with().update(connection);
          }
          return first;
        });
  }

  /** Indexes new lines of running executions; returns whether there may be more. */
  boolean indexRunning() {
    return batches.step(
        connection -> {
          Progress progress = read(connection, LOCK);
          List<Part> running = parts(RUNNING.with("limit", EXECUTIONS), connection);
          List<Part> chosen = fitting(running);
          Indexed indexed = index(connection, chosen, false, false, progress.lastId() + 1);
          move(
              connection,
              progress,
              progress.position(),
              progress.pastTime(),
              progress.pastId(),
              0,
              indexed.chunks());
          return indexed.chunks() > 0
              && (!indexed.isComplete()
                  || chosen.size() < running.size()
                  || running.size() == EXECUTIONS);
        });
  }

  /** Indexes older executions; returns whether there may be more. */
  boolean indexPast() {
    if (database.once(SearchIndexing::progress).pastTime() == null) {
      return false;
    }
    return batches.step(
        connection -> {
          Progress progress = read(connection, LOCK);
          if (progress.pastTime() == null) {
            return false;
          }
          List<Part> past =
              fitting(
                  parts(
                      PAST.with("time", progress.pastTime())
                          .with("id", progress.pastId())
                          .with("limit", EXECUTIONS),
                      connection));
          if (past.isEmpty()) {
            move(connection, progress, progress.position(), null, "", 0, 0);
            return false;
          }
          Part last = past.get(past.size() - 1);
          List<Part> inOrder = new ArrayList<>(past);
          Collections.reverse(inOrder);
          Indexed indexed = index(connection, inOrder, true, true, progress.firstId());
          boolean done = indexed.isComplete();
          move(
              connection,
              progress,
              progress.position(),
              done ? last.finishedAt() : progress.pastTime(),
              done ? last.id() : progress.pastId(),
              indexed.chunks(),
              0);
          return true;
        });
  }

  private static List<Part> parts(Sql.Bound select, Connection connection) throws SQLException {
    return select
        .with("now", Instant.now())
        .list(
            connection,
            row ->
                new Part(
                    row.getString("id"),
                    row.getString("agent_id"),
                    Sql.instant(row, "finished_at"),
                    row.getInt("log_entries"),
                    row.getInt("seq")));
  }

  /** The first ones, of which all lines are read in one step; or only the first one. */
  private static List<Part> fitting(List<Part> parts) {
    long lines = 0;
    int count = 0;
    for (Part part : parts) {
      lines += part.entries() - part.after();
      if (lines > LINES && count > 0) {
        break;
      }
      count++;
    }
    return parts.subList(0, count);
  }

  private static void move(
      Connection connection,
      Progress progress,
      long position,
      Instant pastTime,
      String pastId,
      int before,
      int after)
      throws SQLException {
    MOVE.with("position", position)
        .with("pastTime", pastTime)
        .with("pastId", pastId)
        .with("first", progress.firstId() - before)
        .with("last", progress.lastId() + after)
        .update(connection);
  }

  /**
   * @param isComplete false: the only execution has more lines
   */
  private record Indexed(int chunks, boolean isComplete) {}

  /**
   * @param id the number of the first chunk; for the past, the number after the last one
   */
  private Indexed index(
      Connection connection, List<Part> parts, boolean ended, boolean isPast, long id)
      throws SQLException {
    if (parts.isEmpty()) {
      return new Indexed(0, true);
    }
    ChunkWriter writer = new ChunkWriter();
    int[] read = new int[parts.size()];
    int[] last = parts.stream().mapToInt(Part::after).toArray();
    ENTRIES
        .with("ids", parts.stream().map(Part::id).toArray(String[]::new))
        .with("after", parts.stream().map(Part::after).toArray(Integer[]::new))
        .with("limit", LINES)
        .each(
            connection,
            200,
            row -> {
              int number = row.getInt("number") - 1;
              Part part = parts.get(number);
              last[number] = row.getInt("seq");
              read[number]++;
              Chunk chunk = writer.next();
              chunk.add(
                  part.id(),
                  part.agentId(),
                  last[number],
                  Sql.instant(row, "time"),
                  row.getString("message"));
              chunk.addSource(row.getString("stream"), row.getString("level"));
            });
    boolean complete = parts.size() > 1 || read[0] < LINES;
    String[] ids = parts.stream().map(Part::id).toArray(String[]::new);
    if (ended && complete) {
      addTexts(connection, parts, writer);
      CLOSE.with("ids", ids).update(connection);
    } else {
      Integer[] seqs = Arrays.stream(last).boxed().toArray(Integer[]::new);
      KEEP_OPEN.with("ids", ids).with("seqs", seqs).update(connection);
    }
    List<Chunk> chunks = writer.chunks;
    if (!chunks.isEmpty()) {
      Instant time = chunks.get(0).oldest();
      int slot = SearchSegments.slot(connection, isPast, time, retention);
      SearchSegments.add(connection, slot, isPast ? id - chunks.size() : id, chunks);
    }
    return new Indexed(chunks.size(), complete);
  }

  private static void addTexts(Connection connection, List<Part> parts, ChunkWriter writer)
      throws SQLException {
    Map<String, Part> byId = new HashMap<>();
    parts.forEach(part -> byId.put(part.id(), part));
    TEXTS
        .with("ids", byId.keySet().toArray(String[]::new))
        .with("most", Chunk.TEXT_LIMIT)
        .each(
            connection,
            50,
            row -> {
              Part part = byId.get(row.getString("id"));
              writer.add(
                  part.id(),
                  part.agentId(),
                  Kind.ERRORS,
                  part.finishedAt(),
                  row.getString("error"));
              writer.add(
                  part.id(),
                  part.agentId(),
                  Kind.PAYLOADS,
                  part.finishedAt(),
                  row.getString("payload"));
              writer.add(
                  part.id(),
                  part.agentId(),
                  Kind.RESULTS,
                  part.finishedAt(),
                  row.getString("result"));
            });
  }

  private static final class ChunkWriter {
    private final List<Chunk> chunks = new ArrayList<>();

    Chunk next() {
      if (chunks.isEmpty() || chunks.get(chunks.size() - 1).isFull()) {
        chunks.add(new Chunk());
      }
      return chunks.get(chunks.size() - 1);
    }

    void add(String executionId, String agentId, Kind kind, Instant time, String json) {
      if (json != null && !json.equals("null")) {
        next().add(executionId, agentId, kind.place, time, SearchedText.ofJson(json));
      }
    }
  }
}
