package dev.roost.overview;

import dev.roost.agent.Agent;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.runtime.Runtime;
import io.smallrye.common.annotation.Blocking;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

@Path("/v1/statistics")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Overview")
@Blocking
public class StatisticsResource {
  private static final int MOST_HOURS = 168;

  private static final String EXAMPLE =
      """
      {"from": "2026-11-22T06:00:00.000000Z", "to": "2026-11-22T07:13:21.123456Z", "hours": [
        {"hour": "2026-11-22T06:00:00.000000Z", "succeeded": 412, "failed": 2, "timed_out": 0, "cancelled": 1, "lost": 0},
        {"hour": "2026-11-22T07:00:00.000000Z", "succeeded": 97, "failed": 0, "timed_out": 0, "cancelled": 0, "lost": 0}],
       "running": 3, "queued": 12, "suspended": 40, "executors": {"starting": 1, "idle": 2, "working": 3, "pooled": 1, "limit": 32},
       "failures": [{"reason": "exception", "count": 2, "agents": 1, "latest": {
         "execution_id": "exec_01m7zs7adke00an1911jv8vk1r", "agent_id": "agent_01m7zs76ree00abj6gw1gp1665",
         "agent_name": "report", "message": "KeyError: 'name'", "finished_at": "2026-11-22T06:44:10.004211Z"}}],
       "failed_builds": [{"builder_job_id": "bjob_01m7zs76rke009fm20ry8gw0ta",
         "agent_id": "agent_01m7zs7bree00abj6gw1gp1000", "agent_name": "invoices", "reason": "requirement_not_found",
         "message": "There is no version 99 of requests.", "finished_at": "2026-11-21T18:12:41.123456Z"}],
       "storage": {"log_bytes": 73400320, "payload_bytes": 20971520, "store_bytes": 1048576, "file_bytes": 4194304,
         "free_bytes": 68719476736, "full": null}}""";

  private final EntityManager entities;
  private final Runtime runtime;
  private final Storage storage;
  private final Clock clock;

  StatisticsResource(EntityManager entities, Runtime runtime, Storage storage, Clock clock) {
    this.entities = entities;
    this.runtime = runtime;
    this.storage = storage;
    this.clock = clock;
  }

  @GET
  @Transactional
  @Operation(
      operationId = "getStatistics",
      summary = "Retrieve statistics: Executions per hour, running and queued work, failures",
      description = "Hours are in UTC. The last hour is the current, incomplete one.")
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              schema = @Schema(implementation = Statistics.class),
              examples = @ExampleObject(name = "of two hours", value = EXAMPLE)))
  public Statistics get(
      @Parameter(
              description = "The number of hours, 1 to 168",
              schema =
                  @Schema(
                      type = SchemaType.INTEGER,
                      minimum = "1",
                      maximum = "168",
                      defaultValue = "24"))
          @RestQuery
          @DefaultValue("24")
          int hours,
      @Parameter(description = "Only this agent") @RestQuery("agent_id") String agentId) {
    if (hours < 1 || hours > MOST_HOURS) {
      throw Problem.invalid(
          "?hours", "out_of_range", "hours must be from 1 to " + MOST_HOURS + ".");
    }
    int limit =
        agentId == null ? runtime.describe().maxExecutors() : Agent.require(agentId).maxConcurrency;
    Instant to = clock.instant();
    Instant from = to.truncatedTo(ChronoUnit.HOURS).minus(hours - 1L, ChronoUnit.HOURS);
    Counts counts = Counts.of(agentId);
    return new Statistics(
        from,
        to,
        counts.hours(entities, from, to),
        counts.running(entities),
        counts.queued(entities),
        counts.suspended(entities),
        counts.executors(entities, limit),
        counts.failures(entities, from, to),
        counts.failedBuilds(entities),
        storage.usage());
  }
}
