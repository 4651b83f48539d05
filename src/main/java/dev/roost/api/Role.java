package dev.roost.api;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** What an API key may do; each role may do what those before it may. */
public enum Role {
  /** See everything but the values of environment variables. */
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
