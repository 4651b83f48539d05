package dev.roost.search;

import dev.roost.api.Cursor;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds chunks by the index, the newest first, and compares their lines and texts. */
@ApplicationScoped
class Searches {
  /** After that, a search ends with what it has found. */
  private static final Duration LIMIT = Duration.ofSeconds(3);

  /** The limit of one statement, and half a second. */
  private static final Duration STATEMENT_LIMIT = Duration.ofMillis(2_500);

  /** Searches at a time, each of which has a connection to the database. */
  private static final int AT_ONCE = 4;

  private static final Duration WAIT = Duration.ofSeconds(1);

  private static final String STATEMENT_TIMEOUT = "57014";

  /** Chunks that are compared at a time: few at first, since many searches find much. */
  private static final int FIRST_CHUNKS = 4;

  private static final int MOST_CHUNKS = 128;

  private static final String CURSOR = "search";
  private static final Pattern POSITION =
      Pattern.compile("(m?\\d{1,18}|" + Long.MAX_VALUE + ")-(\\d{1,9})-(\\d{1,9})");

  private static final Sql CHUNKS =
      Sql.of(
          """
          select id, executions, firsts, lasts from search_chunk
          where slot = :slot and id < :before and terms @@ cast(:query as tsquery)
            and newest >= :since and oldest < :until
          order by id desc limit :limit""");

  private static final Sql LINES =
      Sql.of(
          """
          select c.number, l.seq, l.time, l.stream, l.level, l.message
          from unnest(:owners, :firsts, :lasts) with ordinality as c(owner, first, last, number)
          join lateral (
            select * from log_entry e where e.owner_id = c.owner and e.seq between c.first and c.last offset 0) l on true
          where l.time >= :since and l.time < :until
            and (:anyLevel or l.level = any(:levels)) and (:anyStream or l.stream = any(:streams))
            and lower(l.message collate "C") like all(:patterns)
          order by c.number, l.seq desc""");

  private static final Sql TEXTS =
      Sql.of(
          """
          select c.number, coalesce(e.finished_at, e.started_at) as time,
            left(case c.place when -1 then coalesce(e.error, e.message) when -2 then j.payload
              else e.return_value end, :most) as text
          from unnest(:owners, :places) with ordinality as c(owner, place, number)
          join execution e on e.id = c.owner join executor_job j on j.id = e.executor_job_id
          where coalesce(e.finished_at, e.started_at) >= :since and coalesce(e.finished_at, e.started_at) < :until""");

  private static final Sql EXECUTIONS =
      Sql.of(
          """
          select e.id, e.agent_id, a.name from execution e left join agent a on a.id = e.agent_id
          where e.id = any(:ids)""");

  private static final Sql OF_AGENTS =
      Sql.of("select id from execution where id = any(:ids) and agent_id = any(:agents)");

  private static final Sql CONTEXT =
      Sql.of(
          """
          select c.number, l.seq, l.time, l.stream, l.level, left(l.message, 500) as text
          from unnest(:owners, :seqs) with ordinality as c(owner, seq, number)
          join log_entry l on l.owner_id = c.owner
            and l.seq between c.seq - cast(:context as integer) and c.seq + cast(:context as integer)
            and l.seq <> c.seq
          order by c.number, l.seq""");

  private final Database database;
  private final Semaphore free = new Semaphore(AT_ONCE, true);

  Searches(Database database) {
    this.database = database;
  }

  /**
   * @param next null: that is all
   * @param timedOut whether more may match between the last match and {@code next}
   * @param pastFrom executions that ended before this are not indexed yet; null: all are
   */
  record Found(List<SearchMatch> matches, String next, boolean timedOut, Instant pastFrom) {}

  /**
   * A place in the results.
   *
   * @param part of the chunk, from 0; −1: after the whole chunk
   */
  private record Position(long chunk, int part, int seq) {
    static final Position START = new Position(Long.MAX_VALUE, -1, 0);

    String cursor() {
      return Cursor.of(
          CURSOR, (chunk < 0 ? "m" : "") + Math.abs(chunk) + '-' + (part + 1) + '-' + (seq + 3));
    }
  }

  /**
   * @throws Problem validation_failed
   */
  private static Position position(String cursor) {
    String text = Cursor.position(CURSOR, cursor);
    if (text == null) {
      return Position.START;
    }
    Matcher matcher = POSITION.matcher(text);
    if (!matcher.matches()) {
      throw Cursor.invalid();
    }
    String chunk = matcher.group(1);
    long number = Long.parseLong(chunk.replace("m", ""));
    return new Position(
        chunk.startsWith("m") ? -number : number,
        Integer.parseInt(matcher.group(2)) - 1,
        Integer.parseInt(matcher.group(3)) - 3);
  }

  /**
   * @param context lines before and after a match
   * @throws Problem validation_failed, rate_limited
   */
  Found search(SearchQuery query, SearchFilter filter, String cursor, int limit, int context) {
    Position start = position(cursor);
    if (!acquire()) {
      throw Problem.retryLater(
          ErrorCode.RATE_LIMITED, AT_ONCE + " searches are running. Retry the request.", 1);
    }
    try {
      return search(query, filter, start, limit, context);
    } finally {
      free.release();
    }
  }

  private boolean acquire() {
    try {
      return free.tryAcquire(WAIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private Found search(
      SearchQuery query, SearchFilter filter, Position start, int limit, int context) {
    return database.inTransaction(
        connection -> {
          // Values matter: a common word is found faster without the index.
          Sql.of("set local plan_cache_mode = force_custom_plan").with().update(connection);
          Sql.of("set local jit = off").with().update(connection);
          Sql.of("set local statement_timeout = " + STATEMENT_LIMIT.toMillis())
              .with()
              .update(connection);
          return new Search(connection, query, filter, limit).run(start, context);
        });
  }

  /** A part of a chunk that may have matches. */
  private record Part(long chunk, int number, String execution, int first, int last) {}

  /** A match and its place in the results. */
  private record Hit(int order, Part part, int seq, SearchMatch match) {
    Position position() {
      return new Position(part.chunk(), part.number(), seq);
    }
  }

  private static final class Search {
    private final Connection connection;
    private final SearchQuery query;
    private final SearchFilter filter;
    private final int limit;
    private final long end = System.nanoTime() + LIMIT.toNanos();
    private final List<Hit> hits = new ArrayList<>();
    private Position reached;

    Search(Connection connection, SearchQuery query, SearchFilter filter, int limit) {
      this.connection = connection;
      this.query = query;
      this.filter = filter;
      this.limit = limit;
    }

    Found run(Position start, int context) throws SQLException {
      Instant pastFrom = SearchIndexing.progress(connection).pastTime();
      reached = start;
      boolean timedOut = false;
      if (!filter.searched().isEmpty()
          && (filter.agentIds() == null || !filter.agentIds().isEmpty())) {
        timedOut = !collect(start);
      }
      List<Hit> shown = hits.size() > limit ? hits.subList(0, limit) : hits;
      boolean more = hits.size() > limit;
      Position next = more ? shown.get(shown.size() - 1).position() : timedOut ? reached : null;
      List<SearchMatch> matches = withContext(withAgents(shown), context);
      return new Found(matches, next == null ? null : next.cursor(), timedOut && !more, pastFrom);
    }

    /** Returns false if the time was not enough. */
    private boolean collect(Position start) throws SQLException {
      String condition = query.condition() + filter.condition();
      long before =
          start.part() < 0 || start.chunk() == Long.MAX_VALUE ? start.chunk() : start.chunk() + 1;
      int chunks = FIRST_CHUNKS;
      for (SearchSegments.Segment segment : SearchSegments.used(connection)) {
        if (segment.firstId() >= before
            || segment.newest().isBefore(filter.from())
            || !segment.oldest().isBefore(filter.to())) {
          continue;
        }
        while (true) {
          if (System.nanoTime() - end >= 0) {
            return false;
          }
          List<Part> parts = new ArrayList<>();
          int found = 0;
          var savepoint = connection.setSavepoint();
          try {
            found = readChunks(segment.slot(), before, condition, chunks, parts);
            compare(parts, start);
            connection.releaseSavepoint(savepoint);
          } catch (SQLException e) {
            if (!STATEMENT_TIMEOUT.equals(e.getSQLState())) {
              throw e;
            }
            connection.rollback(savepoint);
            return false;
          }
          if (hits.size() > limit) {
            return true;
          }
          if (found < chunks) {
            break;
          }
          before = parts.get(parts.size() - 1).chunk();
          reached = new Position(before, -1, 0);
          chunks = Math.min(2 * chunks, MOST_CHUNKS);
        }
      }
      return true;
    }

    private int readChunks(int slot, long before, String condition, int chunks, List<Part> parts)
        throws SQLException {
      List<Integer> counts =
          CHUNKS
              .with("slot", slot)
              .with("before", before)
              .with("query", condition)
              .with("since", filter.from())
              .with("until", filter.to())
              .with("limit", chunks)
              .list(
                  connection,
                  row -> {
                    String[] executions = (String[]) row.getArray("executions").getArray();
                    Integer[] firsts = (Integer[]) row.getArray("firsts").getArray();
                    Integer[] lasts = (Integer[]) row.getArray("lasts").getArray();
                    // The newest part is the last one.
                    for (int i = executions.length - 1; i >= 0; i--) {
                      parts.add(new Part(row.getLong("id"), i, executions[i], firsts[i], lasts[i]));
                    }
                    return executions.length;
                  });
      return counts.size();
    }

    private void compare(List<Part> parts, Position start) throws SQLException {
      List<Hit> found = new ArrayList<>();
      Predicate<String> isWanted = ofAgents(parts);
      List<Kind> kinds = filter.searched();
      List<Part> lines = new ArrayList<>();
      List<Part> texts = new ArrayList<>();
      Map<Part, Integer> order = new HashMap<>();
      for (Part part : parts) {
        order.put(part, order.size());
        Kind kind = Kind.at(part.first());
        if (kinds.contains(kind) && isWanted.test(part.execution())) {
          (kind == Kind.LOGS ? lines : texts).add(part);
        }
      }
      if (!lines.isEmpty()) {
        compareLines(lines, order, start, found);
      }
      if (!texts.isEmpty()) {
        compareTexts(texts, order, start, found);
      }
      found.sort(
          Comparator.comparingInt(Hit::order).thenComparing(Hit::seq, Comparator.reverseOrder()));
      hits.addAll(found);
    }

    /** A chunk may have executions of other agents, too. */
    private Predicate<String> ofAgents(List<Part> parts) throws SQLException {
      if (filter.agentIds() == null) {
        return execution -> true;
      }
      return new HashSet<>(
              OF_AGENTS
                  .with(
                      "ids", parts.stream().map(Part::execution).distinct().toArray(String[]::new))
                  .with("agents", filter.agentIds().toArray(String[]::new))
                  .strings(connection))
          ::contains;
    }

    private void compareLines(
        List<Part> parts, Map<Part, Integer> order, Position start, List<Hit> found)
        throws SQLException {
      int wanted = limit + 1 - hits.size();
      LINES
          .with("owners", parts.stream().map(Part::execution).toArray(String[]::new))
          .with("firsts", parts.stream().map(Part::first).toArray(Integer[]::new))
          .with("lasts", parts.stream().map(Part::last).toArray(Integer[]::new))
          .with("since", filter.from())
          .with("until", filter.to())
          .with("anyLevel", filter.levels().isEmpty())
          .with("levels", filter.levels().toArray(String[]::new))
          .with("anyStream", filter.streams().isEmpty())
          .with("streams", filter.streams().toArray(String[]::new))
          .with("patterns", query.patterns())
          .each(
              connection,
              100,
              row -> {
                Part part = parts.get(row.getInt("number") - 1);
                int seq = row.getInt("seq");
                if (found.size() == wanted || isBefore(part, seq, start)) {
                  return;
                }
                String text = row.getString("message");
                List<SearchQuery.Mark> marks = query.marks(text);
                if (!marks.isEmpty()) {
                  SearchMatch match =
                      SearchMatch.of(
                          Kind.LOGS,
                          part.execution(),
                          Sql.instant(row, "time"),
                          seq,
                          row.getString("stream"),
                          row.getString("level"),
                          text,
                          marks);
                  found.add(new Hit(order.get(part), part, seq, match));
                }
              });
    }

    private void compareTexts(
        List<Part> parts, Map<Part, Integer> order, Position start, List<Hit> found)
        throws SQLException {
      TEXTS
          .with("owners", parts.stream().map(Part::execution).toArray(String[]::new))
          .with("places", parts.stream().map(Part::first).toArray(Integer[]::new))
          .with("most", Chunk.TEXT_LIMIT)
          .with("since", filter.from())
          .with("until", filter.to())
          .each(
              connection,
              20,
              row -> {
                Part part = parts.get(row.getInt("number") - 1);
                String json = row.getString("text");
                if (json == null || isBefore(part, part.first(), start)) {
                  return;
                }
                String text = SearchedText.ofJson(json);
                List<SearchQuery.Mark> marks = query.marks(text);
                if (!marks.isEmpty()) {
                  SearchMatch match =
                      SearchMatch.of(
                          Kind.at(part.first()),
                          part.execution(),
                          Sql.instant(row, "time"),
                          null,
                          null,
                          null,
                          text,
                          marks);
                  found.add(new Hit(order.get(part), part, part.first(), match));
                }
              });
    }

    /** Whether an earlier page had it. */
    private static boolean isBefore(Part part, int seq, Position start) {
      return part.chunk() == start.chunk()
          && (part.number() > start.part()
              || (part.number() == start.part() && seq >= start.seq()));
    }

    private List<SearchMatch> withAgents(List<Hit> shown) throws SQLException {
      Map<String, String[]> agents = new HashMap<>();
      EXECUTIONS
          .with(
              "ids",
              shown.stream().map(hit -> hit.part().execution()).distinct().toArray(String[]::new))
          .list(
              connection,
              row ->
                  agents.put(
                      row.getString("id"),
                      new String[] {row.getString("agent_id"), row.getString("name")}));
      // One that retention has deleted meanwhile has none.
      return shown.stream()
          .map(Hit::match)
          .filter(match -> agents.containsKey(match.executionId()))
          .map(
              match -> {
                String[] agent = agents.get(match.executionId());
                return match.withAgent(agent[0], agent[1]);
              })
          .toList();
    }

    private List<SearchMatch> withContext(List<SearchMatch> matches, int context)
        throws SQLException {
      List<SearchMatch> lines = matches.stream().filter(match -> match.seq() != null).toList();
      if (context == 0 || lines.isEmpty()) {
        return matches;
      }
      Map<SearchMatch, List<SearchMatch.Line>> around = new HashMap<>();
      CONTEXT
          .with("owners", lines.stream().map(SearchMatch::executionId).toArray(String[]::new))
          .with("seqs", lines.stream().map(SearchMatch::seq).toArray(Integer[]::new))
          .with("context", context)
          .list(
              connection,
              row ->
                  around
                      .computeIfAbsent(
                          lines.get(row.getInt("number") - 1), key -> new ArrayList<>())
                      .add(
                          new SearchMatch.Line(
                              row.getInt("seq"),
                              Sql.instant(row, "time"),
                              row.getString("stream"),
                              row.getString("level"),
                              row.getString("text"))));
      return matches.stream()
          .map(
              match -> {
                List<SearchMatch.Line> all = around.getOrDefault(match, List.of());
                return match.withContext(
                    all.stream().filter(line -> line.seq() < match.seq()).toList(),
                    all.stream().filter(line -> line.seq() > match.seq()).toList());
              })
          .toList();
    }
  }
}
