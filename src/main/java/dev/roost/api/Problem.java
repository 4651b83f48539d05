package dev.roost.api;

import java.util.List;
import java.util.Map;

/** The only exception of the API; becomes an RFC 9457 problem document. */
public final class Problem extends RuntimeException {
  private final transient ErrorCode code;
  private final transient List<FieldError> errors;
  private final transient Map<String, String> headers;

  private Problem(
      ErrorCode code, String detail, List<FieldError> errors, Map<String, String> headers) {
    super(detail);
    this.code = code;
    this.errors = List.copyOf(errors);
    this.headers = Map.copyOf(headers);
  }

  /**
   * One mistake in a request.
   *
   * @param pointer RFC 6901, for example "/requirements"
   * @param line line number from 1 for a field of text with lines; otherwise null
   * @param code the kind of mistake, for example "unknown_field"
   * @param detail the mistake and its fix
   */
  public record FieldError(String pointer, Integer line, String code, String detail) {
    public FieldError(String pointer, String code, String detail) {
      this(pointer, null, code, detail);
    }
  }

  public static Problem of(ErrorCode code, String detail) {
    return new Problem(code, detail, List.of(), Map.of());
  }

  public static Problem notFound(String what, String id) {
    return of(ErrorCode.NOT_FOUND, "There is no " + what + " " + Text.quote(id) + ".");
  }

  public static Problem invalid(List<FieldError> errors) {
    String first = errors.get(0).detail();
    String detail = errors.size() == 1 ? first : errors.size() + " errors; the first: " + first;
    return new Problem(ErrorCode.VALIDATION_FAILED, detail, errors, Map.of());
  }

  /** A precondition of the request has changed. */
  public static Problem conflict(List<FieldError> changes) {
    return new Problem(ErrorCode.CONFLICT, changes.get(0).detail(), changes, Map.of());
  }

  /**
   * @param pointer a JSON pointer into the body, or "?name" for a query parameter, or a header's
   *     name
   */
  public static Problem invalid(String pointer, String code, String detail) {
    return invalid(List.of(new FieldError(pointer, code, detail)));
  }

  public static Problem tooLarge(String what, long size, long limit, String setting) {
    return of(
        ErrorCode.TOO_LARGE,
        "%s has %,d bytes; the limit is %,d (setting %s).".formatted(what, size, limit, setting));
  }

  public static Problem retryLater(ErrorCode code, String detail, long seconds) {
    return new Problem(code, detail, List.of(), Map.of("Retry-After", Long.toString(seconds)));
  }

  /** The database can't be reached at present; another replica may still reach the database. */
  public static Problem databaseUnreachable() {
    return retryLater(
            ErrorCode.UNAVAILABLE, "The database cannot be reached. Retry the request.", 1)
        .withHeader("Connection", "close");
  }

  /** A copy with another detail and other errors. */
  public Problem with(String detail, List<FieldError> errors) {
    return new Problem(code, detail, errors, headers);
  }

  public Problem withHeader(String name, String value) {
    Map<String, String> more = new java.util.HashMap<>(headers);
    more.put(name, value);
    return new Problem(code, getMessage(), errors, more);
  }

  public ErrorCode code() {
    return code;
  }

  public List<FieldError> errors() {
    return errors;
  }

  public Map<String, String> headers() {
    return headers;
  }
}
