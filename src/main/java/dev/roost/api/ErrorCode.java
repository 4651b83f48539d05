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
      "An API key is required",
      "Send an API key with every request: \"Authorization: Bearer roost_…\". The first start "
          + "writes a key to the data directory and prints its path. Deleted keys are rejected. A "
          + "browser signs in once, then sends the session cookie and the page token."),
  FORBIDDEN(
      403,
      "The API key has insufficient permissions",
      "Each key has a role: \"read\" may read, \"execute\" may also execute agents, \"write\" "
          + "may also create, update and delete. Use a key with the role that the detail names. With "
          + "a session cookie, only pages of this Roost may send requests that change something."),
  NOT_FOUND(
      404,
      "The resource does not exist",
      "Check the path and the identifier. Identifiers begin with their type, for example "
          + "\"agent_\". Deleted resources and resources older than the retention period cannot be "
          + "restored."),
  METHOD_NOT_ALLOWED(
      405,
      "The resource does not support this method",
      "The Allow header lists the supported methods. BuilderJobs, Builds and Executions are "
          + "created by Roost and are read-only."),
  NOT_ACCEPTABLE(
      406,
      "No representation fits the Accept header",
      "Omit the Accept header, or send \"application/json\". Logs also support \"text/plain\" "
          + "and \"text/event-stream\", exports \"application/x-ndjson\"."),
  REQUEST_TIMEOUT(
      408,
      "The request body timed out",
      "The body did not arrive completely before the timeout. Retry over a faster connection, "
          + "or raise the setting that the detail names."),
  CONFLICT(
      409,
      "The request conflicts with the state of the resource",
      "The detail names the conflict, for example a name that is already used, or a DataStore "
          + "that agents still use. Resolve the conflict first; a retry of the same request fails "
          + "again."),
  FENCED(
      409,
      "The execution is no longer running",
      "The execution has ended (cancelled, timed out or lost), so writes of its script are "
          + "rejected. Nothing was changed."),
  LOCK_LOST(
      409,
      "The execution has lost a lock",
      "The lease of a lock expired because the script was paused or could not renew it, and "
          + "another holder has acquired the lock. Until the script leaves the lock's block, its "
          + "writes are rejected. Start the work again, with a longer ttl if this happens often."),
  GONE(
      410,
      "The requested data has been deleted",
      "Events are deleted after the retention period (setting roost.retention.events). Retrieve "
          + "the current state of the resources, then continue with the events after the position "
          + "that the detail names."),
  PRECONDITION_FAILED(
      412,
      "The resource has changed",
      "The resource was changed after you retrieved it. Retrieve it again, and repeat your "
          + "change with the new ETag."),
  TOO_LARGE(
      413,
      "A limit is exceeded",
      "The detail names the size, the limit and the setting. Send less data, or raise the "
          + "setting."),
  STORE_FULL(
      413,
      "The DataStore is full",
      "The detail names the limit and the setting. Delete entries, wait until entries expire, "
          + "or raise the setting."),
  UNSUPPORTED_MEDIA_TYPE(
      415,
      "The body has the wrong media type",
      "Send the body as JSON with \"Content-Type: application/json\", and an import with "
          + "\"application/x-ndjson\"."),
  RANGE_NOT_SATISFIABLE(
      416,
      "There are no such bytes",
      "The Range begins after the end of the file. The detail has the file's size."),
  VALIDATION_FAILED(
      422,
      "The request is not valid",
      "\"errors\" lists every invalid field, with its line in fields that have lines, and the "
          + "correct form. Correct all of them and send the request again."),
  IDEMPOTENCY_KEY_REUSED(
      422,
      "The Idempotency-Key was used with a different request",
      "For 24 hours, a key identifies one request with one body. Use a new key for each job, "
          + "and repeat a key only with an identical body."),
  RATE_LIMITED(
      429,
      "Too many requests",
      "The API key has reached its limit of requests per minute, or the limit of open streams "
          + "is reached; the detail says which. Retry after the number of seconds in Retry-After."),
  QUEUE_FULL(
      429,
      "The agent's queue is full",
      "The agent has reached the limit of queued jobs. Retry after the number of seconds in "
          + "Retry-After, or raise the agent's max_concurrency so that the queue drains faster."),
  INTERNAL(
      500,
      "Roost failed to process the request",
      "This is a bug in Roost. Please report it with the log lines of this request_id. The "
          + "request may or may not have taken effect."),
  AGENT_FAILED(
      502,
      "The agent did not produce a response",
      "The job behind the agent's URL failed, was cancelled, or returned what is no HTTP response. "
          + "The detail names the job, whose execution has the error and the log."),
  OVERLOADED(
      503,
      "Roost is overloaded",
      "Nothing was changed. Retry after the number of seconds in Retry-After."),
  UNAVAILABLE(
      503,
      "Roost cannot reach its database or runtime",
      "This usually lasts seconds, for example while the database restarts. Retry after the "
          + "number of seconds in Retry-After. Executions keep running."),
  STORAGE_FULL(
      507,
      "Storage is full",
      "Stored data has reached a limit, or the disk is almost full; the detail names the "
          + "setting. Delete data, shorten the retention period, or raise the limit. Reads and "
          + "deletions still work, and running executions end normally.");

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
