package dev.roost.runtime;

import java.util.Locale;

/** Which egress rules a runtime can enforce. */
public enum EgressScope {
  /** None: all connections are open. */
  ALL,
  /** The rule {@code none}. */
  NONE,
  /** The ports of a list; each port is open at every address. */
  PORTS,
  /** A complete list, addresses and ports. */
  ADDRESSES;

  /** The value in the API. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
