package dev.roost.schedule;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentDeletion;
import dev.roost.agent.InputSchemas;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.ReadableNames;
import dev.roost.api.Text;
import dev.roost.execution.ExecutorJobs;
import dev.roost.execution.Options;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.interceptor.Interceptor;
import jakarta.persistence.LockModeType;
import java.time.Clock;
import java.util.List;

/** Creates, changes and deletes schedules while tickers work on them. */
@ApplicationScoped
public class Schedules {
  private final ExecutorJobs jobs;
  private final InputSchemas schemas;
  private final Clock clock;

  Schedules(ExecutorJobs jobs, InputSchemas schemas, Clock clock) {
    this.jobs = jobs;
    this.schemas = schemas;
    this.clock = clock;
  }

  /**
   * @param request validated, with an agent and a cron expression
   * @return the new schedule's identifier
   * @throws Problem validation_failed when the agent doesn't exist or the payload doesn't match its
   *     schema, conflict when it has a schedule with that name
   */
  public String create(ScheduleRequest request) {
    schemas.check(request.agentId().orElseThrow(), request.payload().orElse(null));
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              // The lock prevents the agent's deletion, and two schedules with the same name.
              Agent agent = lockAgent(request.agentId().orElseThrow());
              Schedule schedule = new Schedule();
              schedule.id = Ids.next("sched");
              schedule.agentId = agent.id;
              schedule.name = request.name().orElseGet(() -> freeName(agent.id));
              requireFree(agent.id, schedule.name);
              schedule.timeZone = ScheduleDefaults.TIME_ZONE;
              schedule.state = ScheduleState.ACTIVE;
              schedule.missedRuns = ScheduleDefaults.MISSED_RUNS;
              schedule.missedRunsLimit = ScheduleDefaults.MISSED_RUNS_LIMIT;
              schedule.overlap = ScheduleDefaults.OVERLAP;
              schedule.createdAt = clock.instant();
              schedule.updatedAt = schedule.createdAt;
              request.apply(schedule, Schedule.now());
              schedule.persist();
              return schedule.id;
            });
  }

  /**
   * Changes the given fields. The lock serializes this with the tickers.
   *
   * @throws Problem not_found, conflict, validation_failed for another agent, or a new payload that
   *     doesn't match the agent's schema
   */
  public void update(String id, ScheduleRequest request) {
    if (request.payload().isPresent()) {
      String agentId = QuarkusTransaction.requiringNew().call(() -> Schedule.agentOf(id));
      schemas.check(agentId, request.payload().get());
    }
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              if (request.name().isPresent()) {
                Agent.lock(Schedule.agentOf(id)); // as in create
              }
              Schedule schedule = Schedule.lock(id);
              request
                  .agentId()
                  .filter(agent -> !agent.equals(schedule.agentId))
                  .ifPresent(
                      agent -> {
                        throw Problem.invalid(
                            "/agent_id",
                            "read_only",
                            "The agent of a schedule cannot be changed. Create another schedule, and delete this one.");
                      });
              request
                  .name()
                  .filter(name -> !name.equals(schedule.name))
                  .ifPresent(
                      name -> {
                        requireFree(schedule.agentId, name);
                        schedule.name = name;
                      });
              request.apply(schedule, Schedule.now());
              schedule.updatedAt = clock.instant();
            });
  }

  /**
   * Pauses or resumes schedules of an agent.
   *
   * @param only the identifiers of the schedules, as far as they are the agent's; empty: all
   * @return the schedules that had another state before
   */
  public List<String> switchAll(String agentId, List<String> only, ScheduleState state) {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              Agent.require(agentId);
              List<Schedule> schedules =
                  Schedule.<Schedule>find(
                          "agentId = ?1 and state <> ?2 order by id", agentId, state)
                      .withLock(LockModeType.PESSIMISTIC_WRITE)
                      .stream()
                      .filter(schedule -> only.isEmpty() || only.contains(schedule.id))
                      .toList();
              for (Schedule schedule : schedules) {
                schedule.state = state;
                schedule.countFrom(Schedule.now());
                schedule.updatedAt = clock.instant();
              }
              return schedules.stream().map(schedule -> schedule.id).toList();
            });
  }

  /** Deletes the schedule; its jobs stay. */
  public void delete(String id) {
    QuarkusTransaction.requiringNew().run(() -> Schedule.lock(id).delete());
  }

  /**
   * Submits a run now, whatever the schedule's state; only with overlap "queue" the job waits for
   * the schedule's other jobs.
   *
   * @param idempotencyKey or null
   * @throws Problem not_found, queue_full, idempotency_key_reused
   */
  ExecutorJobs.Submitted trigger(String id, String idempotencyKey) {
    Schedule schedule = QuarkusTransaction.requiringNew().call(() -> Schedule.require(id));
    Options options = new Options(0, Schedule.concurrencyKey(id, schedule.overlap), id, null);
    return jobs.submit(
        schedule.agentId, JsonText.ofNullable(schedule.payload), options, idempotencyKey);
  }

  /** Runs before the agent's jobs are cancelled: from then on, no ticker creates any. */
  void deleteAll(@Observes @Priority(Interceptor.Priority.APPLICATION - 1) AgentDeletion deletion) {
    Schedule.delete("agentId", deletion.agentId());
  }

  private static Agent lockAgent(String id) {
    try {
      return Agent.lock(id);
    } catch (Problem absent) {
      throw Problem.invalid("/agent_id", "not_found", absent.getMessage());
    }
  }

  private static String freeName(String agentId) {
    String name = ReadableNames.readable();
    while (Schedule.isTaken(agentId, name)) {
      name = ReadableNames.readable();
    }
    return name;
  }

  private static void requireFree(String agentId, String name) {
    if (Schedule.isTaken(agentId, name)) {
      throw Problem.of(
          ErrorCode.CONFLICT,
          "A schedule of the agent already has the name " + Text.quote(name) + ".");
    }
  }
}
