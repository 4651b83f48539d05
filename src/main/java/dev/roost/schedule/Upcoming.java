package dev.roost.schedule;

import dev.roost.api.Body;
import dev.roost.api.Problem;
import io.quarkus.narayana.jta.QuarkusTransaction;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The meaning of a cron expression.
 *
 * @param description in words
 * @param next the next times; fewer when no more exist
 */
@Schema(name = "Upcoming")
public record Upcoming(
    @Schema(
            examples = "At 02:30 on Monday to Friday",
            description = "A description of the cron expression")
        String description,
    @Schema(description = "The next times, in order; fewer than count if there are no more")
        List<Instant> next) {
  private static final int DEFAULT_COUNT = 5;
  private static final int MOST = 100;

  /** The schema of the body of a preview. */
  @Schema(name = "PreviewRequest")
  record Request(
      @Schema(
              required = true,
              description = "Five fields, or a macro such as @daily",
              examples = "30 2 * * 1-5")
          String cron,
      @Schema(description = "IANA's name", defaultValue = "UTC", examples = "Europe/Berlin")
          String timeZone,
      @Schema(
              description = "The maximum number of times",
              defaultValue = "5",
              minimum = "1",
              maximum = "100")
          int count,
      @Schema(description = "The time after which the next times begin; now by default.")
          Instant after) {}

  /**
   * @param count the query parameter, or null
   * @throws Problem validation_failed
   */
  static int count(Integer count) {
    if (count != null && (count < 1 || count > MOST)) {
      throw Problem.invalid("?count", "out_of_range", "count must be from 1 to " + MOST + ".");
    }
    return count == null ? DEFAULT_COUNT : count;
  }

  /** The upcoming times of a schedule, from the first one that was not handled yet. */
  static Upcoming of(Schedule schedule, int count) {
    Timetable timetable = Timetable.of(schedule);
    Optional<Instant> first = Optional.ofNullable(schedule.nextRunAt);
    return new Upcoming(timetable.cron().description(), times(timetable, first, count));
  }

  /**
   * @throws Problem validation_failed
   */
  static Upcoming preview(Body body) {
    body.require("cron");
    Optional<Cron> cron = ScheduleRequest.cron(body).map(Cron::parse);
    ZoneId zone = body.timeZone("time_zone").orElse(ZoneOffset.UTC);
    int count = body.integer("count", 1, MOST).orElse(DEFAULT_COUNT);
    Optional<Instant> after = body.time("after");
    body.check();
    Timetable timetable = new Timetable("", cron.orElseThrow(), zone, null, null, 0);
    Instant from =
        after.orElseGet(() -> QuarkusTransaction.requiringNew().call(() -> Schedule.now()));
    return new Upcoming(
        timetable.cron().description(), times(timetable, timetable.after(from), count));
  }

  private static List<Instant> times(Timetable timetable, Optional<Instant> first, int count) {
    List<Instant> times = new ArrayList<>();
    for (Optional<Instant> time = first;
        time.isPresent() && times.size() < count;
        time = timetable.after(time.get())) {
      times.add(time.get());
    }
    return times;
  }
}
