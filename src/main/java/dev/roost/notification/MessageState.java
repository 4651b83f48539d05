package dev.roost.notification;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The states of a message. */
@Schema(name = "MessageState")
public enum MessageState implements Code {
  PENDING,
  SUCCEEDED,
  FAILED,
  DROPPED;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
