package dev.roost.swarmnode;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Json;
import dev.roost.log.LogEntry;
import dev.roost.log.LogRepository;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Logs as lists of objects with string values. Of a log that is too long, the end is kept: it has
 * the traceback.
 */
@ApplicationScoped
class CompatLogs {
  /** Of one object in a list. */
  static final int LIST_BYTES = 64 << 10;

  /** Of an object that is retrieved by itself. */
  static final int BYTES = 4 << 20;

  private static final int STEP = 1_000;
  private static final int MOST_ENTRIES = 20_000;

  /** Of the note that says what is left out, and of the brackets. */
  private static final int NOTE_BYTES = 256;

  /** Of entries that are read, without what JSON adds to them. */
  private static final int LEAST_ENTRY_BYTES = 64;

  private final LogRepository log;
  private final ObjectMapper mapper;

  CompatLogs(LogRepository log, ObjectMapper mapper) {
    this.log = log;
    this.mapper = mapper;
  }

  private record Line(Map<String, String> values, int bytes) {}

  /**
   * @param ownerId null: there is no log
   * @param note what Roost adds at the end; null: nothing
   * @param mostBytes of all of it as JSON
   */
  List<Map<String, String>> read(String ownerId, String note, int mostBytes) {
    Deque<Line> lines = new ArrayDeque<>();
    int left = mostBytes - NOTE_BYTES;
    Line last = note == null ? null : line(Map.of("stream", "system", "message", note));
    if (last != null) {
      left -= last.bytes();
    }
    int omitted = ownerId == null ? 0 : collect(ownerId, lines, left);
    List<Map<String, String>> values = new ArrayList<>();
    if (omitted > 0) {
      String text = "%,d earlier entries are left out.".formatted(omitted);
      values.add(Map.of("stream", "system", "message", text));
    }
    lines.forEach(line -> values.add(line.values()));
    if (last != null && last.bytes() <= mostBytes - NOTE_BYTES) {
      values.add(last.values());
    }
    return values;
  }

  /** Returns how many entries at the beginning are left out. */
  private int collect(String ownerId, Deque<Line> lines, int mostBytes) {
    int last = QuarkusTransaction.requiringNew().call(() -> log.last(ownerId));
    int entries = Math.max(0, Math.min(MOST_ENTRIES, mostBytes / LEAST_ENTRY_BYTES));
    int omitted = Math.max(0, last - entries);
    int bytes = 0;
    for (int after = omitted; after < last; ) {
      int from = after;
      List<LogEntry> read =
          QuarkusTransaction.requiringNew()
              .call(() -> log.read(ownerId, from, STEP, LogRepository.Filter.NONE));
      if (read.isEmpty()) {
        break; // Retention has removed them.
      }
      for (LogEntry entry : read) {
        Line line = line(values(entry));
        lines.add(line);
        bytes += line.bytes();
        while (bytes > mostBytes) {
          bytes -= lines.remove().bytes();
          omitted++;
        }
      }
      after = read.get(read.size() - 1).seq();
    }
    return omitted;
  }

  private static Map<String, String> values(LogEntry entry) {
    Map<String, String> values = new LinkedHashMap<>();
    values.put("time", Json.time(entry.time()));
    values.put("stream", entry.stream());
    if (entry.level() != null) {
      values.put("level", entry.level());
    }
    if (entry.logger() != null) {
      values.put("logger", entry.logger());
    }
    values.put("message", entry.message());
    return values;
  }

  private Line line(Map<String, String> values) {
    try {
      return new Line(values, mapper.writeValueAsBytes(values).length + 1);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
