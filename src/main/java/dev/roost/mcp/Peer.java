package dev.roost.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.api.Ids;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * What a request says of the client that has sent it. Nothing is kept between requests, so that any
 * replica answers each of them: clients of 2026-07-28 say everything with each request, and earlier
 * ones get a session whose identifier says what they have said at its beginning.
 *
 * @param version of the protocol
 * @param elicits whether it shows forms to a person
 * @param hasTasks whether it asks for the results of calls later
 * @param logLevel the least level of the log lines that it wants, see {@link LogLevel}; null: none
 * @param progressToken of the request; null: it wants no progress
 * @param session null without one
 */
record Peer(
    String version,
    boolean elicits,
    boolean hasTasks,
    LogLevel logLevel,
    JsonNode progressToken,
    String session) {
  static final String STATELESS = "2026-07-28";
  static final String LATEST_WITH_SESSION = "2025-11-25";

  /** The earlier revisions that are spoken, in order. */
  static final List<String> WITH_SESSION =
      List.of("2024-11-05", "2025-03-26", "2025-06-18", LATEST_WITH_SESSION);

  static final String TASKS = "io.modelcontextprotocol/tasks";
  private static final String PREFIX = "io.modelcontextprotocol/";
  private static final String VERSION = PREFIX + "protocolVersion";
  private static final String CAPABILITIES = PREFIX + "clientCapabilities";
  private static final String ELICITS = "e";
  private static final Pattern SESSION = Pattern.compile("mcp_[0-9a-z]{26}(-e)?");

  /** Of requests without the header, as that revision says. */
  private static final String ASSUMED = "2025-03-26";

  private static final Pattern ENCODED = Pattern.compile("=\\?base64\\?(.*)\\?=");

  /**
   * @param header reads a header of the request, or null
   * @throws RpcError the request doesn't fit the revision that it names
   */
  static Peer of(RpcMessage message, UnaryOperator<String> header) {
    String version = header.apply("MCP-Protocol-Version");
    JsonNode meta = message.params().path("_meta");
    if (STATELESS.equals(version) || meta.has(VERSION)) {
      return message.isNotification() ? stateless(meta) : stateless(message, meta, header);
    }
    return ofSession(header).withProgress(meta.get("progressToken"));
  }

  /**
   * @param header reads a header of the request, or null
   * @throws RpcError the revision or the session isn't known
   */
  static Peer ofSession(UnaryOperator<String> header) {
    String version = header.apply("MCP-Protocol-Version");
    if (version != null && !WITH_SESSION.contains(version)) {
      throw unsupported(version);
    }
    String session = header.apply("Mcp-Session-Id");
    if (session != null && !SESSION.matcher(session).matches()) {
      throw new RpcError(
          RpcError.INVALID_REQUEST, "This Mcp-Session-Id is not one of Roost. Initialize again.");
    }
    return new Peer(
        version == null ? ASSUMED : version,
        session != null && session.endsWith("-" + ELICITS),
        false,
        null,
        null,
        session);
  }

  private static Peer stateless(RpcMessage message, JsonNode meta, UnaryOperator<String> header) {
    JsonNode version = meta.path(VERSION);
    if (!version.isTextual() || !meta.path(CAPABILITIES).isObject()) {
      throw RpcError.invalidParams(
          "params._meta must have " + VERSION + " and " + CAPABILITIES + ".");
    }
    requireHeader("MCP-Protocol-Version", version.textValue(), header);
    requireHeader("Mcp-Method", message.method(), header);
    String named =
        switch (message.method()) {
          case "tools/call", "prompts/get" -> "name";
          case "resources/read" -> "uri";
          default -> null;
        };
    if (named != null && message.params().path(named).isTextual()) {
      requireHeader("Mcp-Name", message.params().get(named).textValue(), header);
    }
    if (!version.textValue().equals(STATELESS)) {
      throw unsupported(version.textValue());
    }
    return stateless(meta);
  }

  private static Peer stateless(JsonNode meta) {
    JsonNode capabilities = meta.path(CAPABILITIES);
    return new Peer(
        STATELESS,
        elicits(capabilities),
        capabilities.path("extensions").path(TASKS).isObject(),
        LogLevel.of(meta.path(PREFIX + "logLevel").textValue()),
        meta.get("progressToken"),
        null);
  }

  /** So that what routes by headers and what reads the body see the same request. */
  private static void requireHeader(String name, String value, UnaryOperator<String> header) {
    if (!Objects.equals(decoded(header.apply(name)), value)) {
      throw new RpcError(
          RpcError.HEADER_MISMATCH,
          "The header " + name + " must have the same value as the body of the request.");
    }
  }

  /** Values that headers can't have are base64 of UTF-8 between markers. */
  private static String decoded(String value) {
    var encoded = value == null ? null : ENCODED.matcher(value);
    if (encoded == null || !encoded.matches()) {
      return value;
    }
    try {
      return new String(Base64.getDecoder().decode(encoded.group(1)), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static RpcError unsupported(String version) {
    ObjectNode data = RpcMessage.object().put("requested", version);
    ArrayNode supported = data.putArray("supported");
    WITH_SESSION.forEach(supported::add);
    supported.add(STATELESS);
    return new RpcError(
        RpcError.UNSUPPORTED_VERSION,
        "This revision of the protocol is not supported. Supported: %s, %s."
            .formatted(String.join(", ", WITH_SESSION), STATELESS),
        data);
  }

  /** The identifier of a session that begins, which says what the client can do. */
  static String newSession(JsonNode capabilities) {
    return Ids.next("mcp") + (elicits(capabilities) ? "-" + ELICITS : "");
  }

  /** Forms are what an empty object means. */
  private static boolean elicits(JsonNode capabilities) {
    JsonNode elicitation = capabilities.path("elicitation");
    return elicitation.isObject() && (elicitation.isEmpty() || elicitation.has("form"));
  }

  /** The same with the token of an earlier request; null: it wants no progress. */
  Peer withProgress(JsonNode token) {
    return new Peer(version, elicits, hasTasks, logLevel, token, session);
  }

  /** A whole result, as clients of this revision expect it. */
  ObjectNode complete(ObjectNode result) {
    if (isStateless()) {
      result.put("resultType", "complete");
      result.withObjectProperty("_meta").set(PREFIX + "serverInfo", Methods.serverInfo());
    }
    return result;
  }

  /** A whole result that a client may keep for a minute, for requests with the same key. */
  ObjectNode cacheable(ObjectNode result) {
    if (isStateless()) {
      result.put("ttlMs", 60_000).put("cacheScope", "private");
    }
    return complete(result);
  }

  boolean isStateless() {
    return version.equals(STATELESS);
  }

  /** Whether a call may become a task because its request says so. */
  boolean hasTasksOnRequest() {
    return version.equals(LATEST_WITH_SESSION);
  }

  /** Whether a stream may begin with an event that only has an identifier. */
  boolean readsEmptyEvents() {
    return version.equals(LATEST_WITH_SESSION);
  }
}
