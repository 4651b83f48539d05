package dev.roost.swarmnode;

import dev.roost.builds.BuilderJob;
import io.quarkus.hibernate.orm.panache.PanacheQuery;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jboss.resteasy.reactive.RestQuery;

/** Requests to build an agent's packages. */
@Path("/compat/swarmnode/v1/agent-builder-jobs")
@Blocking
public class CompatBuilderJobs {
  private static final String LIST = "agent-builder-jobs";

  private final CompatUrls urls;

  CompatBuilderJobs(CompatUrls urls) {
    this.urls = urls;
  }

  /** A request to build. */
  public record View(String id, String agentId, Instant created) {
    static View of(BuilderJob job) {
      return new View(
          CompatIds.BUILDER_JOB.uuid(job.id), CompatIds.AGENT.uuid(job.agentId), job.createdAt);
    }
  }

  /** Some jobs, newest first, and how many there are. */
  record Found(List<BuilderJob> jobs, long total) {
    /**
     * @param column that has the value
     * @param value null: all jobs
     */
    static Found of(String column, String value, NumberedPage.Position position) {
      return QuarkusTransaction.requiringNew()
          .call(
              () -> {
                PanacheQuery<BuilderJob> query =
                    value == null
                        ? BuilderJob.find("order by id desc")
                        : BuilderJob.find(column + " = ?1 order by id desc", value);
                long total = value == null ? BuilderJob.count() : BuilderJob.count(column, value);
                return new Found(query.range(position.first(), position.last()).list(), total);
              });
    }

    /**
     * @param uuid as the client has given it
     * @throws dev.roost.api.Problem not_found
     */
    static BuilderJob byId(CompatIds kind, String uuid) {
      String id = kind.id(uuid);
      return QuarkusTransaction.requiringNew()
          .call(() -> BuilderJob.<BuilderJob>findByIdOptional(id))
          .orElseThrow(() -> kind.absent(uuid));
    }
  }

  @GET
  public NumberedPage<View> list(
      @RestQuery("agent_id") String agentId,
      @RestQuery Integer page,
      @RestQuery("page_size") Integer pageSize) {
    NumberedPage.Position position = NumberedPage.Position.of(page, pageSize);
    Found found = Found.of("agentId", CompatIds.AGENT.filter(agentId), position);
    Map<String, Object> filters = new HashMap<>();
    filters.put("agent_id", agentId);
    return NumberedPage.of(
        urls, LIST, position, filters, found.total(), found.jobs().stream().map(View::of).toList());
  }

  @GET
  @Path("{id}")
  public View retrieve(String id) {
    return View.of(Found.byId(CompatIds.BUILDER_JOB, id));
  }
}
