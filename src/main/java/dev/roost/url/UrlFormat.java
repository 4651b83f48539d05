package dev.roost.url;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** What becomes the payload of a request to the URL of an agent, and its response. */
public enum UrlFormat implements Code {
  /** The body is the payload, and the return value is the response. */
  JSON,
  /** The payload has the whole request, and the return value may be a whole response. */
  HTTP;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
