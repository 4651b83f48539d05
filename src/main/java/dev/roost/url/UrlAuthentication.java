package dev.roost.url;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** What a request to the URL of an agent has to show. */
public enum UrlAuthentication implements Code {
  /** An API key that may execute agents. */
  KEY,
  /** A signature of the body; see {@link SignatureScheme}. */
  SIGNATURE,
  /** Nothing; the number of requests per minute is limited. */
  PUBLIC;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
