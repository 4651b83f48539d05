package dev.roost.swarmnode;

import dev.roost.agent.Agent;
import dev.roost.api.Body;
import dev.roost.schedule.Schedule;
import dev.roost.schedule.ScheduleRequest;
import dev.roost.schedule.ScheduleState;
import dev.roost.schedule.Schedules;
import io.quarkus.hibernate.orm.panache.PanacheQuery;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jboss.resteasy.reactive.ResponseStatus;
import org.jboss.resteasy.reactive.RestQuery;

/** Cron jobs: schedules with an expression in UTC and without a payload. */
@Path("/compat/swarmnode/v1/agent-executor-cron-jobs")
@Blocking
public class CompatCronJobs {
  private static final String LIST = "agent-executor-cron-jobs";
  private static final String RUNNING = "running";
  private static final String SUSPENDED = "suspended";

  private final Schedules schedules;
  private final CompatUrls urls;

  CompatCronJobs(Schedules schedules, CompatUrls urls) {
    this.schedules = schedules;
    this.urls = urls;
  }

  /**
   * A cron job.
   *
   * @param status suspended or running
   * @param executionStreamAddress where {@link ExecutionSockets} sends its executions
   */
  public record View(
      String id,
      String agentId,
      String name,
      String status,
      String expression,
      String executionStreamAddress,
      Instant created,
      Instant modified) {
    private static View of(Schedule schedule) {
      return new View(
          CompatIds.CRON_JOB.uuid(schedule.id),
          CompatIds.AGENT.uuid(schedule.agentId),
          schedule.name,
          schedule.state == ScheduleState.ACTIVE ? RUNNING : SUSPENDED,
          schedule.cron,
          CompatIds.CRON_JOB.address(schedule.id),
          schedule.createdAt,
          schedule.updatedAt);
    }
  }

  @GET
  public NumberedPage<View> list(
      @RestQuery("agent_id") String agentId,
      @RestQuery Integer page,
      @RestQuery("page_size") Integer pageSize) {
    NumberedPage.Position position = NumberedPage.Position.of(page, pageSize);
    String agent = CompatIds.AGENT.filter(agentId);
    Map<String, Object> filters = new HashMap<>();
    filters.put("agent_id", agentId);
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              PanacheQuery<Schedule> query =
                  agent == null
                      ? Schedule.find("order by id desc")
                      : Schedule.find("agentId = ?1 order by id desc", agent);
              long total = agent == null ? Schedule.count() : Schedule.count("agentId", agent);
              List<View> views =
                  query.range(position.first(), position.last()).stream().map(View::of).toList();
              return NumberedPage.of(urls, LIST, position, filters, total, views);
            });
  }

  @GET
  @Path("{id}")
  public View retrieve(String id) {
    return view(CompatIds.CRON_JOB.id(id));
  }

  @POST
  @Path("create")
  @Consumes(MediaType.APPLICATION_JSON)
  @ResponseStatus(201)
  public View create(byte[] bytes) {
    Body body = Body.parse(bytes);
    List.of("agent_id", "name", "expression").forEach(body::require);
    Optional<String> agent = body.string("agent_id");
    Optional<String> name = ScheduleRequest.name(body, body.string("name"));
    Optional<String> expression = ScheduleRequest.cron(body, "expression");
    body.check();
    String agentId = CompatIds.AGENT.id(agent.orElseThrow());
    QuarkusTransaction.requiringNew().run(() -> Agent.require(agentId));
    return view(
        schedules.create(
            ScheduleRequest.of(Optional.of(agentId), name, expression, Optional.empty())));
  }

  @PATCH
  @Path("{id}/update")
  @Consumes(MediaType.APPLICATION_JSON)
  public View update(String id, byte[] bytes) {
    String scheduleId = CompatIds.CRON_JOB.id(id);
    Body body = Body.parse(bytes);
    Optional<String> name = ScheduleRequest.name(body, body.string("name"));
    Optional<ScheduleState> state =
        body.choice("status", List.of(RUNNING, SUSPENDED))
            .map(status -> status.equals(RUNNING) ? ScheduleState.ACTIVE : ScheduleState.PAUSED);
    body.check();
    schedules.update(
        scheduleId, ScheduleRequest.of(Optional.empty(), name, Optional.empty(), state));
    return view(scheduleId);
  }

  @DELETE
  @Path("{id}/delete")
  public void delete(String id) {
    schedules.delete(CompatIds.CRON_JOB.id(id));
  }

  private static View view(String id) {
    return QuarkusTransaction.requiringNew().call(() -> View.of(Schedule.require(id)));
  }
}
