package dev.roost.swarmnode;

/** Where the API is. */
final class CompatPaths {
  static final String PREFIX = "/compat/swarmnode/";
  static final String API = PREFIX + "v1/";
  static final String SOCKETS = PREFIX + "ws/v1/";
  static final String UPLOADS = PREFIX + "uploads/";

  private CompatPaths() {}
}
