package dev.roost.runtime;

import java.util.Locale;

/** What a runtime can enforce of an agent's egress. */
public enum EgressScope {
  /** Nothing: all is open. */
  ALL,
  /** That it is none. */
  NONE,
  /** Of a list, the ports; each is open at every address. */
  PORTS,
  /** A list as it is. */
  ADDRESSES;

  /** As the API has it. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
