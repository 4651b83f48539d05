package dev.roost.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.history.Read;
import dev.roost.history.StoreCall;
import dev.roost.history.StoreCall.Outcome;
import dev.roost.history.StoreWrite;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The operations that {@code history.py} has told of. */
final class HistoryLines {
  private JsonNode begin;
  private JsonNode latest;

  private HistoryLines() {}

  /** Those without an end, and those that don't know it, are of unknown outcome. */
  static List<StoreCall> parse(List<String> lines) {
    Map<String, HistoryLines> operations = new LinkedHashMap<>();
    for (String line : lines) {
      if (line.endsWith("}")) { // The last one of a killed process may be cut off.
        JsonNode event = HttpAnswer.parse(line);
        HistoryLines one =
            operations.computeIfAbsent(event.path("id").asText(), id -> new HistoryLines());
        if (event.path("event").asText().equals("begin")) {
          one.begin = event;
        } else {
          one.latest = event;
        }
      }
    }
    return operations.values().stream()
        .filter(one -> one.latest != null)
        .map(HistoryLines::operation)
        .toList();
  }

  private StoreCall operation() {
    List<Read> reads = new ArrayList<>();
    for (JsonNode read : latest.path("reads")) {
      reads.add(
          new Read(
              read.path(0).asText(),
              read.path(1).asLong(),
              read.path(2).asText(null),
              read.path(3).asBoolean()));
    }
    List<StoreWrite> writes = new ArrayList<>();
    for (JsonNode write : latest.path("writes")) {
      long ttl = Math.round(write.path(4).asDouble() * 1e9);
      boolean removes = write.path(0).asText().equals("delete");
      writes.add(
          new StoreWrite(
              write.path(1).asText(),
              write.path(2).asLong(),
              write.path(3).asText(null),
              ttl,
              removes));
    }
    Outcome outcome =
        switch (latest.path("outcome").asText()) {
          case "ok" -> Outcome.OK;
          case "failed" -> Outcome.FAILED;
          default -> Outcome.UNKNOWN;
        };
    return new StoreCall(
        begin.path("id").asText(),
        begin.path("process").asText(),
        begin.path("what").asText(),
        begin.path("at").asLong(),
        outcome == Outcome.UNKNOWN ? StoreCall.NEVER : latest.path("at").asLong(),
        outcome,
        reads,
        writes);
  }
}
