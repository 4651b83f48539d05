package dev.roost.schedule;

import dev.roost.api.NameSearch;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.db.Code;
import dev.roost.db.Conditions;
import dev.roost.db.Sql;
import dev.roost.state.ExecutorJobState;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The times at which Roost runs an agent. */
@Entity(name = "schedule")
public class Schedule extends PanacheEntityBase {
  private static final Sql STATES =
      Sql.of("select id, state from executor_job where id = any(:jobs)");

  private static final Sql NOW = Sql.of("select clock_timestamp() as now");

  @Id public String id;
  public String agentId;
  public String name;
  public String cron;

  @Column(name = "time_zone")
  public String timeZone;

  /** JSON text; null when none was given. */
  public String payload;

  @Enumerated(EnumType.STRING)
  public ScheduleState state;

  /** "skip", "run_once" or "run_all". */
  public String missedRuns;

  public int missedRunsLimit;

  /** "allow", "skip" or "queue". */
  public String overlap;

  public double jitterSeconds;
  public Instant startsAt;
  public Instant endsAt;

  /** The first scheduled time that was not handled yet; null: none, or the schedule is paused. */
  public Instant nextRunAt;

  /** When {@link #nextRunAt} is due. */
  public Instant dueAt;

  /** The scheduled time of the latest job that was created on schedule. */
  public Instant lastScheduledTime;

  public String lastExecutorJobId;
  public Instant createdAt;
  public Instant updatedAt;

  boolean isActive() {
    return state == ScheduleState.ACTIVE;
  }

  /** The concurrency key that makes its jobs run one at a time; null: they may overlap. */
  static String concurrencyKey(String id, String overlap) {
    return overlap.equals("queue") ? id : null;
  }

  /** Counts times from now on: earlier scheduled times are not made up for. */
  void countFrom(Instant now) {
    Timetable timetable = Timetable.of(this);
    nextRunAt = isActive() ? timetable.after(now).orElse(null) : null;
    dueAt = nextRunAt == null ? null : timetable.dueAt(nextRunAt);
  }

  /** The current time, by the clock that decides what is due. */
  static Instant now() {
    return NOW.with().first(getEntityManager(), row -> Sql.instant(row, "now")).orElseThrow();
  }

  /**
   * @throws Problem not_found
   */
  public static Schedule require(String id) {
    return Schedule.<Schedule>findByIdOptional(id)
        .orElseThrow(() -> Problem.notFound("schedule", id));
  }

  /**
   * The schedule's agent; without loading the schedule, so that {@link #lock} reads its latest
   * state.
   *
   * @throws Problem not_found
   */
  static String agentOf(String id) {
    return getEntityManager()
        .createQuery("select s.agentId from schedule s where s.id = :id", String.class)
        .setParameter("id", id)
        .getResultStream()
        .findFirst()
        .orElseThrow(() -> Problem.notFound("schedule", id));
  }

  /**
   * The schedule, locked until the transaction ends: no ticker creates its jobs meanwhile.
   *
   * @throws Problem not_found
   */
  static Schedule lock(String id) {
    return Schedule.<Schedule>find("id", id)
        .withLock(LockModeType.PESSIMISTIC_WRITE)
        .firstResultOptional()
        .orElseThrow(() -> Problem.notFound("schedule", id));
  }

  static boolean isTaken(String agentId, String name) {
    return count("agentId = ?1 and name = ?2", agentId, name) > 0;
  }

  /** Filters the list; null: no filter. */
  record Filter(String agentId, String state, String name, String[] words) {}

  static List<Page.Sized> sizes(Filter filter, String cursor, int limit) {
    Conditions conditions =
        new Conditions()
            .and("id < :cursor", "cursor", cursor)
            .and("agent_id = :agent", "agent", filter.agentId())
            .and("state = :state", "state", filter.state())
            .and("name = :name", "name", filter.name())
            .and(NameSearch.condition("name"), "words", filter.words());
    String select =
        """
        select id, coalesce(octet_length(payload), 0) as bytes from schedule
        where %s order by id desc limit :most
        """;
    return conditions
        .bind(select.formatted(conditions.text()))
        .with("most", limit + 1)
        .list(getEntityManager(), Page.Sized::of);
  }

  /**
   * The states of the schedules' latest jobs, as far as the jobs still exist, by job identifier.
   */
  static Map<String, ExecutorJobState> lastStates(List<Schedule> schedules) {
    Map<String, ExecutorJobState> states = new HashMap<>();
    String[] jobs =
        schedules.stream()
            .map(schedule -> schedule.lastExecutorJobId)
            .filter(Objects::nonNull)
            .toArray(String[]::new);
    STATES
        .with("jobs", jobs)
        .list(
            getEntityManager(),
            row ->
                states.put(
                    row.getString("id"),
                    Code.parse(ExecutorJobState.class, row.getString("state"))));
    return states;
  }
}
