package dev.roost.state;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** The states of a delivery. */
public enum DeliveryState implements Code {
  PENDING,
  SUCCEEDED,
  FAILED;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
