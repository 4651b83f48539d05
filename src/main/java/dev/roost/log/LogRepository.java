package dev.roost.log;

import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;

/** The logs of Executions and BuilderJobs: appended in batches, read by sequence number. */
@ApplicationScoped
public class LogRepository {
  private static final Sql APPEND =
      Sql.of(
          """
          insert into log_entry (owner_id, seq, time, stream, level, logger, message, continued)
          select :owner, *
          from unnest(:seqs, :times, :streams, :levels, :loggers, :messages, :continued)
          on conflict do nothing
          """);

  private static final Sql READ =
      Sql.of(
          """
          select seq, time, stream, level, logger, message, continued from (
            select *, sum(octet_length(message)) over (order by seq) - octet_length(message) as before from (
              select * from log_entry
              where owner_id = :owner and seq > :after
                and (cast(:level as text) is null or level = :level)
                and (cast(:contains as text) is null or strpos(message, :contains) > 0)
              order by seq limit :limit) as entries) as summed
          where before < :bytes order by seq
          """);

  private static final Sql LAST =
      Sql.of("select coalesce(max(seq), 0) as last from log_entry where owner_id = :owner");

  /** Maximum number of entries per read; a page or a step of a stream is held in memory. */
  private static final int MAX_ENTRIES = 1_000;

  private static final int PAGE_BYTES = 4 << 20;

  private final EntityManager entities;

  LogRepository(EntityManager entities) {
    this.entities = entities;
  }

  /**
   * Selects entries of a log.
   *
   * @param level only entries of this level, or null
   * @param contains only entries whose message contains this text, or null
   */
  public record Filter(String level, String contains) {
    public static final Filter NONE = new Filter(null, null);
  }

  /** Stores entries in the caller's transaction; existing entries are not changed. */
  public void append(String ownerId, List<LogEntry> entries) {
    if (entries.isEmpty()) {
      return;
    }
    APPEND
        .with("owner", ownerId)
        .with("seqs", column(entries, LogEntry::seq, Integer[]::new))
        .with("times", column(entries, LogEntry::time, Instant[]::new))
        .with("streams", column(entries, LogEntry::stream, String[]::new))
        .with("levels", column(entries, LogEntry::level, String[]::new))
        .with("loggers", column(entries, LogEntry::logger, String[]::new))
        .with("messages", column(entries, LogEntry::message, String[]::new))
        .with("continued", column(entries, LogEntry::continued, Boolean[]::new))
        .update(entities);
  }

  private static <T> T[] column(
      List<LogEntry> entries, Function<LogEntry, T> value, IntFunction<T[]> array) {
    return entries.stream().map(value).toArray(array);
  }

  /**
   * Entries after a sequence number, in order: at most {@code limit} and at most about 4 MiB, and
   * at least one if there is one.
   */
  public List<LogEntry> read(String ownerId, int afterSeq, int limit, Filter filter) {
    return read(ownerId, afterSeq, limit, PAGE_BYTES, filter);
  }

  /** Like the other {@code read}, with a limit of about {@code mostBytes} bytes of messages. */
  List<LogEntry> read(String ownerId, int afterSeq, int limit, int mostBytes, Filter filter) {
    // The running sum keeps a page of 64 KiB lines from exhausting the memory.
    return READ.with("owner", ownerId)
        .with("after", afterSeq)
        .with("level", filter.level())
        .with("contains", filter.contains())
        .with("limit", Math.min(limit, MAX_ENTRIES))
        .with("bytes", mostBytes)
        .list(entities, LogRepository::entry);
  }

  /** The last sequence number of a log; 0 when it is empty. */
  public int last(String ownerId) {
    return LAST.with("owner", ownerId).first(entities, row -> row.getInt("last")).orElseThrow();
  }

  private static LogEntry entry(ResultSet row) throws SQLException {
    return new LogEntry(
        row.getInt("seq"),
        Sql.instant(row, "time"),
        row.getString("stream"),
        row.getString("level"),
        row.getString("logger"),
        row.getString("message"),
        row.getBoolean("continued"));
  }
}
