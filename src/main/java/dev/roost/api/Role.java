package dev.roost.api;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** The permissions of an API key; each role includes the permissions of the roles before. */
public enum Role {
  /** Read everything except the values of environment variables. */
  READ,
  /** Execute agents and cancel jobs. */
  EXECUTE,
  /** Change agents, stores and keys. */
  WRITE;

  public boolean allows(Role needed) {
    return compareTo(needed) >= 0;
  }

  @JsonValue
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Role of(String code) {
    return valueOf(code.toUpperCase(Locale.ROOT));
  }
}
