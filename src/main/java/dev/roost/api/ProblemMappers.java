package dev.roost.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import dev.roost.db.TransientErrors;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpServerRequest;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** Converts all exceptions to problem documents. */
public class ProblemMappers {
  public static final String MEDIA_TYPE = "application/problem+json";

  private static final Logger LOG = Logger.getLogger(ProblemMappers.class);

  private final AllowedMethods allowed;
  private final Rejections rejections;

  ProblemMappers(AllowedMethods allowed, Rejections rejections) {
    this.allowed = allowed;
    this.rejections = rejections;
  }

  /** RFC 9457, extended by the code, the mistakes and the request's identifier. */
  public record Document(
      String type,
      String title,
      int status,
      ErrorCode code,
      String detail,
      @JsonInclude(Include.NON_EMPTY) List<Problem.FieldError> errors,
      String requestId) {
    /**
     * @param requestId or null
     */
    public static Document of(Problem problem, Object requestId) {
      ErrorCode code = problem.code();
      return new Document(
          "/docs/errors#" + code.code(),
          code.title(),
          code.status(),
          code,
          problem.getMessage(),
          problem.errors(),
          requestId == null ? null : requestId.toString());
    }
  }

  @ServerExceptionMapper
  public Response map(Problem problem, ContainerRequestContext request) {
    return answer(problem, request);
  }

  @ServerExceptionMapper
  public Response map(RuntimeUnavailable unavailable, ContainerRequestContext request) {
    LOG.warn("the runtime cannot be reached", unavailable);
    return answer(Problem.retryLater(ErrorCode.UNAVAILABLE, unavailable.getMessage(), 2), request);
  }

  @ServerExceptionMapper
  public Response map(
      WebApplicationException e, ContainerRequestContext request, HttpServerRequest http) {
    String path = request.getUriInfo().getPath();
    Problem problem =
        switch (e.getResponse().getStatus()) {
          // RESTEasy also responds with 404 when another class at the same path supports the
          // method.
          case 404 ->
              e.getCause() instanceof IllegalArgumentException cause
                  ? unreadable(request.getUriInfo().getQueryParameters(), cause)
                  : absent(path, http.method().name());
          case 405 -> notAllowed(path, http.method().name());
          case 406 ->
              Problem.of(ErrorCode.NOT_ACCEPTABLE, "No representation matches the Accept header.");
          case 413 ->
              Problem.of(ErrorCode.TOO_LARGE, "The body exceeds the maximum size of requests.");
          case 415 ->
              Problem.of(
                  ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                  "Send the body with \"Content-Type: application/json\".");
          case 400 ->
              Problem.of(ErrorCode.MALFORMED_JSON, "The request cannot be read: " + e.getMessage());
          default -> null;
        };
    return problem == null ? unexpected(e, request) : answer(problem, request);
  }

  @ServerExceptionMapper
  public Response unexpected(Throwable e, ContainerRequestContext request) {
    if (isCallerGone(e)) {
      LOG.debugf("request %s was aborted", request.getProperty(RequestFilters.REQUEST_ID));
      return answer(
          Problem.of(ErrorCode.MALFORMED_JSON, "The request body is incomplete."),
          request); // client gone
    }
    return answer(problem(e, request.getProperty(RequestFilters.REQUEST_ID)), request);
  }

  /** Converts an exception to a Problem; logs unexpected exceptions. */
  public static Problem problem(Throwable e, Object requestId) {
    if (e instanceof Problem problem) {
      return problem;
    }
    if (TransientErrors.isTransient(e)) {
      LOG.warnf("database unreachable: %s", e.getMessage());
      return Problem.databaseUnreachable();
    }
    if (TransientErrors.isTimeout(e)) {
      LOG.warnf("a statement took too long: %s", e.getMessage());
      return Problem.retryLater(
          ErrorCode.UNAVAILABLE, "The database took too long. Retry the request.", 1);
    }
    Optional<Problem> refusal = DatabaseRefusals.of(e);
    if (refusal.isPresent()) {
      return refusal.get();
    }
    LOG.errorf(e, "request %s failed", requestId);
    return Problem.of(ErrorCode.INTERNAL, "The server's log has details under this request_id.");
  }

  private static boolean isCallerGone(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof HttpClosedException) {
        return true;
      }
    }
    return false;
  }

  private Problem absent(String path, String method) {
    Set<String> methods = allowed.at(path);
    return methods.isEmpty() || methods.contains(method)
        ? Problem.of(ErrorCode.NOT_FOUND, "There is no resource at " + path + ".")
        : notAllowed(path, method);
  }

  private Problem notAllowed(String path, String method) {
    return Problem.of(ErrorCode.METHOD_NOT_ALLOWED, method + " is not supported here.")
        .withHeader(HttpHeaders.ALLOW, String.join(", ", allowed.at(path)));
  }

  /** A query parameter of the wrong type, which RESTEasy reports as a missing resource. */
  private static Problem unreadable(
      MultivaluedMap<String, String> parameters, IllegalArgumentException cause) {
    String message = String.valueOf(cause.getMessage());
    String name =
        parameters.entrySet().stream()
            .filter(
                entry -> entry.getValue().stream().anyMatch(v -> message.contains('"' + v + '"')))
            .map(Map.Entry::getKey)
            .findFirst()
            .orElse("");
    return Problem.invalid(
        "?" + name,
        "wrong_type",
        "The query parameter " + name + " has the wrong type: " + message);
  }

  private Response answer(Problem problem, ContainerRequestContext request) {
    rejections.count(problem);
    Response.ResponseBuilder response =
        Response.status(problem.code().status())
            .type(MEDIA_TYPE)
            .entity(Document.of(problem, request.getProperty(RequestFilters.REQUEST_ID)));
    problem.headers().forEach(response::header);
    return response.build();
  }
}
