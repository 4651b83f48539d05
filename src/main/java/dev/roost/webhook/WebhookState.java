package dev.roost.webhook;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** The states of a webhook. */
public enum WebhookState implements Code {
  ACTIVE,
  DISABLED;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
