package dev.roost.agent;

import dev.roost.api.Caller;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.EntityTag;
import jakarta.ws.rs.core.Response;
import java.net.URI;
import java.time.Clock;
import java.util.List;
import java.util.Map;

/** Responds with an agent's current state and the ETag of that state. */
@ApplicationScoped
class AgentAnswers {
  private static final String ACTIVITY = "activity";

  private final Caller caller;
  private final OutdatedAgents outdated;
  private final Clock clock;

  AgentAnswers(Caller caller, OutdatedAgents outdated, Clock clock) {
    this.caller = caller;
    this.outdated = outdated;
    this.clock = clock;
  }

  /**
   * @throws Problem not_found
   */
  Response of(String id) {
    return answer(Response.ok(), id, null);
  }

  /**
   * @param include the query parameter, or null
   * @throws Problem not_found, validation_failed
   */
  Response of(String id, String include) {
    return answer(Response.ok(), id, include);
  }

  Response created(String id) {
    return answer(Response.created(URI.create("/v1/agents/" + id)), id, null);
  }

  /**
   * The views of a list, without what executors import in advance: that would have to be read for
   * each agent. Runs in the caller's transaction.
   *
   * @param include the query parameter, or null
   * @throws Problem validation_failed
   */
  List<AgentView> views(List<Agent> agents, String include) {
    return views(agents, Map.of(), include);
  }

  private List<AgentView> views(
      List<Agent> agents, Map<String, PreloadedView> preloaded, String include) {
    if (include != null && !include.equals(ACTIVITY)) {
      throw Problem.invalid("?include", "not_a_choice", "include must be " + ACTIVITY + ".");
    }
    return AgentView.of(
        agents,
        caller.may(Role.WRITE),
        outdated.among(agents.stream().map(agent -> agent.id).toList()),
        preloaded,
        include == null ? null : clock.instant());
  }

  private Response answer(Response.ResponseBuilder response, String id, String include) {
    AgentView view =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  Agent agent = Agent.require(id);
                  Map<String, PreloadedView> preloaded =
                      Preloads.view(id, agent.revisionToRun())
                          .map(found -> Map.of(id, found))
                          .orElse(Map.of());
                  return views(List.of(agent), preloaded, include).get(0);
                });
    String tag = Agent.entityTag(view.revision(), view.updatedAt());
    return response.tag(new EntityTag(tag)).entity(view).build();
  }
}
