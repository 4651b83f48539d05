package dev.roost.schedule;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentDeletion;
import dev.roost.api.Database;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Names;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.execution.ExecutorJobQueued;
import dev.roost.execution.QueuedJobs;
import dev.roost.execution.ScheduledOrders;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.interceptor.Interceptor;
import java.time.Clock;
import java.time.Instant;
import java.util.List;

/** Makes, changes and deletes schedules, while tickers work on them. */
@ApplicationScoped
class Schedules {
  private final Database database;
  private final QueuedJobs queued;
  private final RoostConfig config;
  private final Clock clock;

  Schedules(Database database, QueuedJobs queued, RoostConfig config, Clock clock) {
    this.database = database;
    this.queued = queued;
    this.config = config;
    this.clock = clock;
  }

  /**
   * @param request checked, with an agent and a cron expression
   * @return the new schedule's identifier
   * @throws Problem not_found for the agent, conflict when it has a schedule of that name
   */
  String create(ScheduleRequest request) {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              // Locked, so that it isn't deleted meanwhile, and names are given one at a time.
              Agent agent = Agent.lock(request.agentId().orElseThrow());
              Schedule schedule = new Schedule();
              schedule.id = Ids.next("sched");
              schedule.agentId = agent.id;
              schedule.name = request.name().orElseGet(() -> freeName(agent.id));
              requireFree(agent.id, schedule.name);
              schedule.timeZone = "UTC";
              schedule.state = "active";
              schedule.missedRuns = "run_once";
              schedule.missedRunsLimit = 100;
              schedule.overlap = "allow";
              schedule.createdAt = clock.instant();
              schedule.updatedAt = schedule.createdAt;
              request.apply(schedule, Schedule.now());
              schedule.persist();
              return schedule.id;
            });
  }

  /**
   * Changes what is given. Whoever is first, this or a ticker, does its work on the schedule as it
   * was.
   *
   * @throws Problem not_found, conflict, validation_failed for another agent
   */
  void update(String id, ScheduleRequest request) {
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              request
                  .name()
                  .ifPresent(name -> Agent.lock(Schedule.require(id).agentId)); // as in create
              Schedule schedule = Schedule.lock(id);
              request
                  .agentId()
                  .filter(agent -> !agent.equals(schedule.agentId))
                  .ifPresent(
                      agent -> {
                        throw Problem.invalid(
                            "/agent_id",
                            "read_only",
                            "A schedule stays with its agent. Make another one, and delete this one.");
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

  /** Leaves the jobs that it has made. */
  void delete(String id) {
    QuarkusTransaction.requiringNew().run(() -> Schedule.lock(id).delete());
  }

  /**
   * Orders a run now, whatever the schedule's state and policies.
   *
   * @return the ExecutorJob's identifier
   * @throws Problem not_found, queue_full
   */
  String trigger(String id) {
    Schedule schedule = QuarkusTransaction.requiringNew().call(() -> Schedule.require(id));
    ScheduledOrders.Order order =
        new ScheduledOrders.Order(
            id, schedule.agentId, null, Schedule.concurrencyKey(id, schedule.overlap));
    int most = config.limits().queuedExecutorJobs();
    Instant now = clock.instant();
    ScheduledOrders.Placed placed =
        database
            .inTransaction(
                connection -> ScheduledOrders.place(connection, List.of(order), most, now))
            .get(0);
    switch (placed.result()) {
      case MADE ->
          queued.tell(List.of(new ExecutorJobQueued(schedule.agentId, placed.agentRevision())));
      case NO_ROOM ->
          throw Problem.retryLater(
              ErrorCode.QUEUE_FULL,
              "%,d executions of this agent wait already (setting roost.limits.queued-executor-jobs)."
                  .formatted(most),
              5);
      case NEEDLESS -> throw Problem.notFound("schedule", id); // deleted this moment
    }
    return placed.executorJobId();
  }

  /** Before the agent's jobs are cancelled: from then on, no ticker makes any. */
  void deleteAll(@Observes @Priority(Interceptor.Priority.APPLICATION - 1) AgentDeletion deletion) {
    Schedule.delete("agentId", deletion.agentId());
  }

  private static String freeName(String agentId) {
    String name = Names.readable();
    while (Schedule.isTaken(agentId, name)) {
      name = Names.readable();
    }
    return name;
  }

  private static void requireFree(String agentId, String name) {
    if (Schedule.isTaken(agentId, name)) {
      throw Problem.of(
          ErrorCode.CONFLICT, "The agent has a schedule named " + Text.quote(name) + " already.");
    }
  }
}
