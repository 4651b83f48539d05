package dev.roost.agent;

import dev.roost.api.Caller;
import dev.roost.api.Role;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.EntityTag;
import jakarta.ws.rs.core.Response;
import java.net.URI;

/** Answers with an agent as it is now, and the ETag for a change of just that. */
@ApplicationScoped
class AgentAnswers {
  private final Caller caller;

  AgentAnswers(Caller caller) {
    this.caller = caller;
  }

  /**
   * @throws dev.roost.api.Problem not_found
   */
  Response of(String id) {
    return answer(Response.ok(), id);
  }

  Response created(String id) {
    return answer(Response.created(URI.create("/v1/agents/" + id)), id);
  }

  private Response answer(Response.ResponseBuilder response, String id) {
    AgentView view =
        QuarkusTransaction.requiringNew()
            .call(() -> AgentView.of(Agent.require(id), caller.may(Role.WRITE)));
    String tag = Agent.entityTag(view.revision(), view.updatedAt());
    return response.tag(new EntityTag(tag)).entity(view).build();
  }
}
