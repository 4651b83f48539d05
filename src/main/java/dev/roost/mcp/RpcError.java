package dev.roost.mcp;

import com.fasterxml.jackson.databind.JsonNode;

/** An error of JSON-RPC 2.0, with the codes that the Model Context Protocol gives a meaning. */
final class RpcError extends RuntimeException {
  static final int PARSE_ERROR = -32700;
  static final int INVALID_REQUEST = -32600;
  static final int METHOD_NOT_FOUND = -32601;
  static final int INVALID_PARAMS = -32602;
  static final int INTERNAL_ERROR = -32603;
  static final int RESOURCE_NOT_FOUND = -32002;
  static final int HEADER_MISMATCH = -32020;
  static final int MISSING_CAPABILITY = -32021;
  static final int UNSUPPORTED_VERSION = -32022;

  private final int code;
  private final transient JsonNode data;

  RpcError(int code, String message) {
    this(code, message, null);
  }

  /**
   * @param data or null
   */
  RpcError(int code, String message, JsonNode data) {
    super(message);
    this.code = code;
    this.data = data;
  }

  static RpcError invalidParams(String message) {
    return new RpcError(INVALID_PARAMS, message);
  }

  int code() {
    return code;
  }

  JsonNode data() {
    return data;
  }
}
