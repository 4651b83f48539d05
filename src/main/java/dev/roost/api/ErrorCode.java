package dev.roost.api;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** All codes of problem documents, with their HTTP status and texts. */
public enum ErrorCode {
  MALFORMED_JSON(
      400,
      "The body is not valid JSON",
      "Roost reads strict JSON (RFC 8259) in UTF-8: no comments, no trailing commas, no NaN, and no"
          + " object that has a key twice. The detail names line and column where it can."),
  UNAUTHENTICATED(
      401,
      "An API key is needed",
      "Send a key with every request: \"Authorization: Bearer roost_…\". The first start writes a"
          + " key to the data directory and prints where; keys that were deleted no longer work."
          + " A browser signs in once and sends the cookie of its session with its page token."),
  FORBIDDEN(
      403,
      "This API key may not do that",
      "Keys have a role: \"read\" sees, \"execute\" also executes agents, \"write\" also changes"
          + " things. Use a key with the role that the detail names. With the cookie of a session,"
          + " only pages of this Roost may change things."),
  NOT_FOUND(
      404,
      "There is no such thing",
      "Check the path and the identifier; identifiers begin with the type, for example \"agent_\"."
          + " What was deleted, or is older than the retention, is gone for good."),
  METHOD_NOT_ALLOWED(
      405,
      "This resource doesn't take that method",
      "The Allow header lists the methods that it takes. BuilderJobs, Builds and Executions are made"
          + " by Roost and can only be read."),
  NOT_ACCEPTABLE(
      406,
      "No representation fits the Accept header",
      "Leave the Accept header out, or ask for \"application/json\"; logs also come as"
          + " \"text/plain\" and \"text/event-stream\", and exports as \"application/x-ndjson\"."),
  REQUEST_TIMEOUT(
      408,
      "The request took too long to arrive",
      "The body was not complete when its time was over. Send the request again, over a faster"
          + " connection, or raise the setting that the detail names where Roost runs."),
  CONFLICT(
      409,
      "The state of the resource doesn't allow it",
      "The detail says what stands in the way, for example a name that is taken or a store that"
          + " agents still use. Change that first; sending the same request again won't help."),
  FENCED(
      409,
      "The execution is no longer running",
      "The execution has ended (cancelled, timed out or lost), so what its script still tried to"
          + " write was refused. Nothing was changed."),
  LOCK_LOST(
      409,
      "The execution has lost a lock",
      "The lease of a lock ran out, because the script was paused or could not renew it, and someone"
          + " else has taken the lock. Until the script leaves that lock's block, all that it tries"
          + " to write is refused. Begin again, with a longer ttl if this happens often."),
  GONE(
      410,
      "What was asked for is removed by now",
      "The log of events is kept for a time only (setting roost.retention.events). Read the present"
          + " state of what matters to you, then go on with the events after the position that the"
          + " detail names."),
  PRECONDITION_FAILED(
      412,
      "The resource has changed",
      "Someone else changed the resource after you read it. Read it again, and repeat your change"
          + " with the new ETag."),
  TOO_LARGE(
      413,
      "A limit is exceeded",
      "The detail names the size, the limit and the setting. Send less, or raise the setting where"
          + " Roost runs."),
  STORE_FULL(
      413,
      "The DataStore is full",
      "The detail names the limit and the setting. Delete entries, let them expire, or raise the"
          + " setting where Roost runs."),
  UNSUPPORTED_MEDIA_TYPE(
      415,
      "The body has the wrong media type",
      "Send the body as JSON with \"Content-Type: application/json\"; an import takes"
          + " \"application/x-ndjson\"."),
  VALIDATION_FAILED(
      422,
      "The request has mistakes",
      "\"errors\" lists every mistake with the field, the line where there is one, and what to write"
          + " instead. Correct them all and send the request again."),
  IDEMPOTENCY_KEY_REUSED(
      422,
      "The Idempotency-Key was used with another request",
      "Within 24 hours a key stands for one request with one body. Use a new key for each new job,"
          + " and repeat a key only with the very same body."),
  RATE_LIMITED(
      429,
      "Too many requests",
      "This API key has used its requests of the current minute, or as many streams are open as the"
          + " limit allows; the detail says which. Wait for the seconds that Retry-After names."),
  QUEUE_FULL(
      429,
      "The agent's queue is full",
      "More executions of this agent wait than the limit allows. Wait for the seconds that"
          + " Retry-After names, or raise the agent's max_concurrency so that the queue drains"
          + " faster."),
  INTERNAL(
      500,
      "Something went wrong inside Roost",
      "This is a fault in Roost. Its log tells more under the request_id; please report both. The"
          + " request may or may not have taken effect."),
  OVERLOADED(
      503,
      "Roost has too much to do at the moment",
      "Nothing was changed. Wait for the seconds that Retry-After names and send the request again."),
  UNAVAILABLE(
      503,
      "Roost can't reach its database or runtime",
      "Usually over within seconds, for example while the database restarts. Wait for the seconds"
          + " that Retry-After names and send the request again. What runs goes on running."),
  STORAGE_FULL(
      507,
      "Storage is full",
      "What Roost stores has reached a limit, or the disk is almost full; the detail names the"
          + " setting. Delete what isn't needed, shorten the retention, or raise the limit. Reading"
          + " and deleting work, and what runs ends as usual.");

  private final int status;
  private final String title;
  private final String advice;

  ErrorCode(int status, String title, String advice) {
    this.status = status;
    this.title = title;
    this.advice = advice;
  }

  public int status() {
    return status;
  }

  public String title() {
    return title;
  }

  /** The meaning and the fix, for a person. */
  public String advice() {
    return advice;
  }

  @JsonValue
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }
}
