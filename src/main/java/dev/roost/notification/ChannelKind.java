package dev.roost.notification;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** How a channel sends messages. */
@Schema(name = "ChannelKind")
public enum ChannelKind implements Code {
  EMAIL,
  SLACK;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
