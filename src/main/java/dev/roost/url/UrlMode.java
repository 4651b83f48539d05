package dev.roost.url;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** When a request to the URL of an agent is answered. */
public enum UrlMode implements Code {
  /** When the job has ended, with its result. */
  WAIT,
  /** When the job was created, with its identifier. */
  ACCEPT;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
