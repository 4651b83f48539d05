package dev.roost.execution;

import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The values that scripts emit. They are stored as they come, some in a row, so that a row costs
 * little for each of them. Those of an attempt are numbered from 1 without gaps, through all
 * executions that continue it.
 */
@ApplicationScoped
class StreamValues {
  private static final Sql APPEND =
      Sql.of(
          """
          with owner as materialized (
            select x.executor_job_id as job, x.attempt from execution x
            where x.id = :execution and x.executor_id = :executor and x.state = 'running' for share),
          before as (
            select c.last, c.total_bytes from owner o cross join lateral (
              select c.last, c.total_bytes from stream_chunk c
              where c.executor_job_id = o.job and c.attempt = o.attempt order by c.last desc limit 1) c),
          saved as (
            insert into stream_chunk (executor_job_id, attempt, first, last, data, total_bytes)
            select o.job, o.attempt, :first, :last, :data, coalesce(b.total_bytes, 0) + :bytes
            from owner o left join before b on true
            where coalesce(b.last, 0) = :first - 1 and coalesce(b.total_bytes, 0) + :bytes <= :mostBytes
            on conflict do nothing returning last)
          select o.job, exists (select from saved) as saved, coalesce(b.last, 0) as last,
            coalesce(b.total_bytes, 0) as bytes
          from owner o left join before b on true""");

  private static final Sql READ =
      Sql.of(
          """
          select first, data from (
            select first, last, data, sum(octet_length(data)) over (order by last) - octet_length(data) as bytes_before,
              sum(last - first + 1) over (order by last) - (last - first + 1) as values_before
            from (select * from stream_chunk
              where executor_job_id = :job and attempt = :attempt and last > :after order by last limit :chunks) chunks) c
          where bytes_before < :bytes and values_before < :values order by last""");

  /** A request may be resent while the first one still runs. */
  private static final int MOST_TRIES = 3;

  private static final int MOST_CHUNKS = 500;

  /** Hundreds of slow readers may each hold one step in memory. */
  private static final int STEP_BYTES = 256 << 10;

  private static final int STEP_VALUES = 2_000;

  private final Database database;
  private final RoostConfig.Limits limits;

  StreamValues(Database database, RoostConfig config) {
    this.database = database;
    this.limits = config.limits();
  }

  /** A stored value, and its number in its attempt. */
  record Value(int number, JsonText json) {}

  private record Appended(String job, boolean saved, int last, long bytes) {}

  /**
   * Stores values of a running execution; skips those that are stored already.
   *
   * @param first the number of the first of them
   * @param values JSON texts without line breaks, at least one
   * @return the job of the execution
   * @throws Problem fenced; too_large: the attempt would have too many bytes; conflict: values
   *     before these are missing
   */
  String append(String executorId, String executionId, int first, List<String> values) {
    int from = first;
    List<String> rest = values;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
      int last = from + rest.size() - 1;
      String data = String.join("\n", rest);
      long bytes = data.getBytes(StandardCharsets.UTF_8).length + 1L;
      Sql.Bound append =
          APPEND
              .with("execution", executionId)
              .with("executor", executorId)
              .with("first", from)
              .with("last", last)
              .with("data", data)
              .with("bytes", bytes)
              .with("mostBytes", limits.streamBytes());
      Appended result =
          database
              .once(
                  connection ->
                      append.first(
                          connection,
                          row ->
                              new Appended(
                                  row.getString("job"),
                                  row.getBoolean("saved"),
                                  row.getInt("last"),
                                  row.getLong("bytes"))))
              .orElseThrow(JobSteps::fenced);
      if (result.saved() || result.last() >= last) {
        return result.job();
      }
      if (result.last() < from - 1) {
        throw Problem.of(
            ErrorCode.CONFLICT,
            "The value %,d does not follow the last one, %,d.".formatted(from, result.last()));
      }
      if (result.last() >= from) {
        // A process that continues an attempt emits the values before its wait again.
        rest = rest.subList(result.last() - from + 1, rest.size());
        from = result.last() + 1;
      } else if (result.bytes() + bytes > limits.streamBytes()) {
        throw Problem.of(
            ErrorCode.TOO_LARGE,
            ("The values that an attempt emits can have at most %,d bytes together (setting "
                    + "roost.limits.stream-bytes); %,d are stored.")
                .formatted(limits.streamBytes(), result.bytes()));
      }
    }
    throw Problem.of(ErrorCode.CONFLICT, "The same values are being stored by another request.");
  }

  /** Values after a number, in order: some, and at least one if there is one. */
  static List<Value> read(Connection connection, String jobId, int attempt, int after)
      throws SQLException {
    List<Value> values = new ArrayList<>();
    READ.with("job", jobId)
        .with("attempt", attempt)
        .with("after", after)
        .with("chunks", MOST_CHUNKS)
        .with("bytes", STEP_BYTES)
        .with("values", STEP_VALUES)
        .list(
            connection,
            row -> {
              int number = row.getInt("first");
              for (String text : row.getString("data").split("\n", -1)) {
                if (number > after) {
                  values.add(new Value(number, JsonText.ofNullable(text)));
                }
                number++;
              }
              return null;
            });
    return values;
  }
}
