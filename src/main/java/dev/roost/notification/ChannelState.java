package dev.roost.notification;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** Whether a channel sends messages. */
@Schema(name = "ChannelState")
public enum ChannelState implements Code {
  ACTIVE,
  DISABLED;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
