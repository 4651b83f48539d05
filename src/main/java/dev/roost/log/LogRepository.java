package dev.roost.log;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.hibernate.Session;

/** The logs of Executions and BuilderJobs: appended in batches, read by sequence number. */
@ApplicationScoped
public class LogRepository {
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
    int size = entries.size();
    Integer[] seqs = new Integer[size];
    OffsetDateTime[] times = new OffsetDateTime[size];
    String[][] texts = new String[4][size];
    Boolean[] continued = new Boolean[size];
    for (int i = 0; i < size; i++) {
      LogEntry entry = entries.get(i);
      seqs[i] = entry.seq();
      times[i] = entry.time().atOffset(ZoneOffset.UTC);
      texts[0][i] = entry.stream();
      texts[1][i] = entry.level();
      texts[2][i] = entry.logger();
      texts[3][i] = entry.message();
      continued[i] = entry.continued();
    }
    entities
        .unwrap(Session.class)
        .doWork(
            connection -> {
              try (PreparedStatement insert =
                  connection.prepareStatement(
                      """
                      insert into log_entry (owner_id, seq, time, stream, level, logger, message, continued)
                      select ?, * from unnest(?, ?, ?, ?, ?, ?, ?)
                      on conflict do nothing""")) {
                insert.setString(1, ownerId);
                Array[] arrays = {
                  connection.createArrayOf("int4", seqs),
                  connection.createArrayOf("timestamptz", times),
                  connection.createArrayOf("text", texts[0]),
                  connection.createArrayOf("text", texts[1]),
                  connection.createArrayOf("text", texts[2]),
                  connection.createArrayOf("text", texts[3]),
                  connection.createArrayOf("bool", continued)
                };
                for (int i = 0; i < arrays.length; i++) {
                  insert.setArray(2 + i, arrays[i]);
                }
                insert.executeUpdate();
              }
            });
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
    List<Object[]> rows =
        entities
            .unwrap(Session.class)
            .createNativeQuery(
                """
                select seq, time, stream, level, logger, message, continued from (
                  select *, sum(octet_length(message)) over (order by seq) - octet_length(message) as before from (
                    select * from log_entry
                    where owner_id = :owner and seq > :after
                      and (cast(:level as text) is null or level = :level)
                      and (cast(:contains as text) is null or strpos(message, :contains) > 0)
                    order by seq limit :limit) as entries) as summed
                where before < :bytes order by seq""",
                Object[].class)
            .setParameter("owner", ownerId)
            .setParameter("after", afterSeq)
            .setParameter("level", filter.level())
            .setParameter("contains", filter.contains())
            .setParameter("limit", Math.min(limit, MAX_ENTRIES))
            .setParameter("bytes", mostBytes)
            .getResultList();
    return rows.stream().map(LogRepository::entry).toList();
  }

  /** The last sequence number of a log; 0 when it is empty. */
  public int last(String ownerId) {
    return (Integer)
        entities
            .createNativeQuery(
                "select coalesce(max(seq), 0) from log_entry where owner_id = :owner",
                Integer.class)
            .setParameter("owner", ownerId)
            .getSingleResult();
  }

  private static LogEntry entry(Object[] row) {
    return new LogEntry(
        (Integer) row[0],
        row[1] instanceof OffsetDateTime time ? time.toInstant() : (Instant) row[1],
        (String) row[2],
        (String) row[3],
        (String) row[4],
        (String) row[5],
        (Boolean) row[6]);
  }
}
