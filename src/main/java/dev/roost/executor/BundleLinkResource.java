package dev.roost.executor;

import dev.roost.agent.AgentRevision;
import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.bundle.Bundles;
import dev.roost.state.ExecutorState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;

/** Gives executors the files of their agents' projects: {@code docs/executor-link.md}. */
@Path("/internal/v1/executors/{id}/bundle")
@Blocking
public class BundleLinkResource {
  private final Bundles bundles;

  BundleLinkResource(Bundles bundles) {
    this.bundles = bundles;
  }

  /** The manifest, or a part of a pack. */
  @POST
  @Operation(hidden = true)
  public Response read(String id, @Context RoutingContext routing, byte[] bytes) {
    LinkFilter.requireOwn(id, LinkFilter.bearer(routing));
    Body body = Body.parse(bytes);
    body.require("bundle_id");
    String bundle = body.string("bundle_id").orElse("");
    Optional<Integer> pack = body.integer("pack", 0, Integer.MAX_VALUE);
    int part = body.integer("part", 0, Integer.MAX_VALUE).orElse(0);
    body.check();
    if (!QuarkusTransaction.requiringNew().call(() -> isOfItsRevision(id, bundle))) {
      throw Problem.notFound("bundle of this executor", bundle);
    }
    byte[] answer =
        pack.map(number -> bundles.part(bundle, number, part))
            .orElseGet(() -> bundles.manifestText(bundle))
            .orElseThrow(() -> lost(bundle));
    return Response.ok(
            answer,
            pack.isPresent()
                ? MediaType.APPLICATION_OCTET_STREAM_TYPE
                : MediaType.APPLICATION_JSON_TYPE)
        .build();
  }

  private static boolean isOfItsRevision(String id, String bundle) {
    Executor executor = Executor.findById(id);
    if (executor == null || executor.agentId == null || executor.state == ExecutorState.ENDED) {
      return false;
    }
    AgentRevision revision = AgentRevision.of(executor.agentId, executor.agentRevision);
    return revision != null && bundle.equals(revision.bundleId);
  }

  private static Problem lost(String bundle) {
    return Problem.of(
        ErrorCode.GONE, "The storage of files has lost the bundle %s.".formatted(bundle));
  }
}
