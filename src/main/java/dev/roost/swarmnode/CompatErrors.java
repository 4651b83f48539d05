package dev.roost.swarmnode;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.ProblemMappers;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.core.MediaType;
import java.lang.annotation.Annotation;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;

/**
 * Errors as the clients know them. They understand the statuses 400, 401 and 404 only: they take
 * any other one for a success, and a deletion that was refused for done.
 */
public class CompatErrors {
  private static final int BAD_REQUEST = 400;
  private static final int UNAUTHENTICATED = 401;
  private static final int NOT_FOUND = 404;

  /**
   * The body of each error.
   *
   * @param code one of {@link ErrorCode}
   */
  public record Body(String message, String code, Map<String, Object> extra) {
    static Body of(Problem problem, Object requestId) {
      return of(ProblemMappers.Document.of(problem, requestId));
    }

    private static Body of(ProblemMappers.Document document) {
      Map<String, Object> extra = new LinkedHashMap<>();
      if (!document.errors().isEmpty()) {
        extra.put("errors", document.errors());
      }
      if (document.requestId() != null) {
        extra.put("request_id", document.requestId());
      }
      return new Body(document.detail(), document.code().code(), extra);
    }
  }

  static int status(ErrorCode code) {
    return switch (code) {
      // A key whose role doesn't suffice is as good as none.
      case UNAUTHENTICATED, FORBIDDEN -> UNAUTHENTICATED;
      // An operation that isn't there.
      case NOT_FOUND, METHOD_NOT_ALLOWED -> NOT_FOUND;
      case MALFORMED_JSON,
          NOT_ACCEPTABLE,
          REQUEST_TIMEOUT,
          CONFLICT,
          FENCED,
          LOCK_LOST,
          GONE,
          PRECONDITION_FAILED,
          TOO_LARGE,
          STORE_FULL,
          UNSUPPORTED_MEDIA_TYPE,
          RANGE_NOT_SATISFIABLE,
          VALIDATION_FAILED,
          IDEMPOTENCY_KEY_REUSED,
          RATE_LIMITED,
          QUEUE_FULL,
          INTERNAL,
          AGENT_FAILED,
          OVERLOADED,
          UNAVAILABLE,
          STORAGE_FULL ->
          BAD_REQUEST;
    };
  }

  /** Of what JAX-RS answers, its own refusals included. */
  @ServerResponseFilter
  public void convert(ContainerRequestContext request, ContainerResponseContext response) {
    if (response.getEntity() instanceof ProblemMappers.Document document
        && request.getUriInfo().getPath().startsWith(CompatPaths.PREFIX)) {
      response.setStatus(status(document.code()));
      response.setEntity(Body.of(document), new Annotation[0], MediaType.APPLICATION_JSON_TYPE);
    }
  }
}
