package dev.roost.api;

/** The parts of this server that have metadata of their own for clients with access tokens. */
enum ProtectedResource {
  API("", Role.WRITE),
  MCP("/mcp", Role.EXECUTE),
  MCP_ADMIN("/mcp/admin", Role.WRITE);

  private final String path;
  private final Role usual;

  ProtectedResource(String path, Role usual) {
    this.path = path;
    this.usual = usual;
  }

  /** Without a slash at its end. */
  String path() {
    return path;
  }

  /** The role with which a client can use all of it. */
  Role usual() {
    return usual;
  }

  /**
   * @param path of a request
   */
  static ProtectedResource of(String path) {
    String plain = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    for (ProtectedResource each : values()) {
      if (each.path.equals(plain)) {
        return each;
      }
    }
    return API;
  }
}
