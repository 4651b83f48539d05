package dev.roost.schedule;

import dev.roost.api.Body;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.ReadableNames;
import dev.roost.api.Text;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;

/**
 * The fields of a schedule in a request, validated; all are optional, since a change contains only
 * the changed fields.
 *
 * @param startsAt an empty inner value: no bound; the same for endsAt
 */
public record ScheduleRequest(
    Optional<String> agentId,
    Optional<String> name,
    Optional<String> cron,
    Optional<String> timeZone,
    Optional<JsonText> payload,
    Optional<ScheduleState> state,
    Optional<String> missedRuns,
    Optional<Integer> missedRunsLimit,
    Optional<String> overlap,
    Optional<Double> jitter,
    Optional<Optional<Instant>> startsAt,
    Optional<Optional<Instant>> endsAt) {

  /** The maximum length of a cron expression. */
  private static final int CRON_CHARACTERS = 1_000;

  private static final int HOUR_SECONDS = 3_600;

  /**
   * Reads the body of a request; the caller calls {@link Body#check}.
   *
   * @param payloadBytes the maximum size of a payload
   * @throws Problem too_large
   */
  static ScheduleRequest read(Body body, int payloadBytes) {
    ScheduleRequest request =
        new ScheduleRequest(
            body.string("agent_id"),
            body.string("name"),
            cron(body),
            body.timeZone("time_zone").map(ZoneId::getId),
            body.json("payload"),
            body.choice("state", ScheduleState.class),
            body.choice("missed_runs", List.of("skip", "run_once", "run_all")),
            body.integer("missed_runs_limit", 1, 1_000),
            body.choice("overlap", List.of("allow", "skip", "queue")),
            body.number("jitter", 0, HOUR_SECONDS),
            bound(body, "starts_at"),
            bound(body, "ends_at"));
    request.payload.ifPresent(
        value -> {
          int size = Text.sizeBytes(value.text());
          if (size > payloadBytes) {
            throw Problem.tooLarge("payload", size, payloadBytes, "roost.limits.payload-bytes");
          }
        });
    name(body, request.name);
    return request;
  }

  /** Reports a name that is not valid. */
  public static Optional<String> name(Body body, Optional<String> given) {
    given.flatMap(ReadableNames::mistake).ifPresent(m -> body.reject("name", "invalid_name", m));
    return given;
  }

  /** Only these fields; a new schedule has defaults for the others. */
  public static ScheduleRequest of(
      Optional<String> agentId,
      Optional<String> name,
      Optional<String> cron,
      Optional<ScheduleState> state) {
    return new ScheduleRequest(
        agentId,
        name,
        cron,
        Optional.empty(),
        Optional.empty(),
        state,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /** The member "cron", when it is valid. */
  static Optional<String> cron(Body body) {
    return cron(body, "cron");
  }

  /** A member with a cron expression, when it is valid. */
  public static Optional<String> cron(Body body, String member) {
    return body.string(member)
        .filter(
            text -> {
              try {
                if (text.length() > CRON_CHARACTERS) {
                  throw new CronException(member + " is too long.");
                }
                Cron.parse(text);
                return true;
              } catch (CronException e) {
                body.reject(member, "invalid_cron", e.getMessage());
                return false;
              }
            });
  }

  private static Optional<Optional<Instant>> bound(Body body, String name) {
    return body.isNull(name) ? Optional.of(Optional.empty()) : body.time(name).map(Optional::of);
  }

  /**
   * Writes the given fields into the row, except for the agent and the name.
   *
   * @param now from when on times count, when they change
   * @throws Problem validation_failed for values that contradict each other
   */
  void apply(Schedule schedule, Instant now) {
    List<Object> before = times(schedule);
    double jitterBefore = schedule.jitterSeconds;
    cron.ifPresent(value -> schedule.cron = value);
    timeZone.ifPresent(value -> schedule.timeZone = value);
    payload.ifPresent(value -> schedule.payload = value.text());
    state.ifPresent(value -> schedule.state = value);
    missedRuns.ifPresent(value -> schedule.missedRuns = value);
    missedRunsLimit.ifPresent(value -> schedule.missedRunsLimit = value);
    overlap.ifPresent(value -> schedule.overlap = value);
    jitter.ifPresent(value -> schedule.jitterSeconds = value);
    startsAt.ifPresent(value -> schedule.startsAt = value.orElse(null));
    endsAt.ifPresent(value -> schedule.endsAt = value.orElse(null));
    if (schedule.startsAt != null
        && schedule.endsAt != null
        && schedule.endsAt.isBefore(schedule.startsAt)) {
      throw Problem.invalid("/ends_at", "out_of_range", "ends_at must not be before starts_at.");
    }
    if (!before.equals(times(schedule))) {
      schedule.countFrom(now);
    } else if (schedule.jitterSeconds != jitterBefore && schedule.nextRunAt != null) {
      schedule.dueAt = Timetable.of(schedule).dueAt(schedule.nextRunAt);
    }
  }

  /** The fields that determine a schedule's times. */
  private static List<Object> times(Schedule schedule) {
    return List.of(
        String.valueOf(schedule.cron),
        String.valueOf(schedule.timeZone),
        schedule.state,
        Optional.ofNullable(schedule.startsAt),
        Optional.ofNullable(schedule.endsAt));
  }
}
