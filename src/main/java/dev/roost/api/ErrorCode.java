package dev.roost.api;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Every code that a problem document can have, with the HTTP status and title that go with it. */
public enum ErrorCode {
  MALFORMED_JSON(400, "The body is not valid JSON"),
  UNAUTHENTICATED(401, "An API key is needed"),
  FORBIDDEN(403, "This API key may not do that"),
  NOT_FOUND(404, "There is no such thing"),
  METHOD_NOT_ALLOWED(405, "This resource doesn't take that method"),
  NOT_ACCEPTABLE(406, "No representation fits the Accept header"),
  CONFLICT(409, "The state of the resource doesn't allow it"),
  FENCED(409, "The execution is no longer running"),
  PRECONDITION_FAILED(412, "The resource has changed"),
  TOO_LARGE(413, "A limit is exceeded"),
  UNSUPPORTED_MEDIA_TYPE(415, "The body has the wrong media type"),
  VALIDATION_FAILED(422, "The request has mistakes"),
  IDEMPOTENCY_KEY_REUSED(422, "The Idempotency-Key was used with another request"),
  RATE_LIMITED(429, "Too many requests"),
  QUEUE_FULL(429, "The agent's queue is full"),
  INTERNAL(500, "Something went wrong inside Roost"),
  UNAVAILABLE(503, "Roost can't reach its database or runtime");

  private final int status;
  private final String title;

  ErrorCode(int status, String title) {
    this.status = status;
    this.title = title;
  }

  public int status() {
    return status;
  }

  public String title() {
    return title;
  }

  @JsonValue
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }
}
