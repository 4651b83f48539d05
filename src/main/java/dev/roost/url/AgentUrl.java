package dev.roost.url;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.roost.api.PublicUrl;
import dev.roost.config.RoostConfig;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * How an agent can be called at its URL.
 *
 * @param signatureScheme null unless requests are authenticated by a signature
 * @param secret verifies signatures; null as signatureScheme
 * @param previousSecret verifies them, too, until previousSecretUntil; null: there is none
 * @param requestsPerMinute null: no limit of its own
 * @param waitSeconds how long a request waits at most for the job's end
 */
record AgentUrl(
    String agentId,
    String agentName,
    List<String> methods,
    UrlMode mode,
    UrlFormat format,
    UrlAuthentication authentication,
    SignatureScheme signatureScheme,
    String secret,
    String previousSecret,
    Instant previousSecretUntil,
    List<String> corsOrigins,
    Integer requestsPerMinute,
    int waitSeconds,
    Instant createdAt,
    Instant updatedAt) {
  static final String PATH = "/run/";

  static AgentUrl read(ResultSet row) throws SQLException {
    return new AgentUrl(
        row.getString("agent_id"),
        row.getString("agent_name"),
        strings(row.getArray("methods")),
        Code.parse(UrlMode.class, row.getString("mode")),
        Code.parse(UrlFormat.class, row.getString("format")),
        Code.parse(UrlAuthentication.class, row.getString("authentication")),
        Code.parse(SignatureScheme.class, row.getString("signature_scheme")),
        row.getString("secret"),
        row.getString("previous_secret"),
        Sql.instant(row, "previous_secret_until"),
        strings(row.getArray("cors_origins")),
        row.getObject("requests_per_minute", Integer.class),
        row.getInt("wait_seconds"),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "updated_at"));
  }

  private static List<String> strings(Array array) throws SQLException {
    return List.of((String[]) array.getArray());
  }

  /** Whether the URL takes requests with that method; HEAD is GET without the body. */
  boolean takes(String method) {
    return methods.contains(method.equals("HEAD") ? "GET" : method);
  }

  /** Whether whoever sends requests may be a stranger, who learns nothing of what runs inside. */
  boolean isForStrangers() {
    return authentication != UrlAuthentication.KEY;
  }

  /** The secrets that verify signatures at that time, the latest first. */
  List<String> secrets(Instant now) {
    boolean isPreviousValid = previousSecret != null && now.isBefore(previousSecretUntil);
    return isPreviousValid ? List.of(secret, previousSecret) : List.of(secret);
  }

  /** Omits the secrets, which must not get into logs. */
  @Override
  public String toString() {
    return "URL of " + agentId;
  }

  /** The URL of an agent in the API. */
  @Schema(name = "AgentUrl")
  record View(
      @Schema(description = "The agent that is called") String agentId,
      @Schema(
              description =
                  "The address, with the agent's current name; without the setting roost.public-url, its path",
              examples = "https://roost.example.org/run/orders")
          String url,
      @Schema(
              description =
                  "The methods of requests: GET (which includes HEAD), POST, PUT, PATCH, DELETE",
              examples = "[\"POST\"]")
          List<String> methods,
      @Schema(
              description =
                  "wait: the response is the job's result. accept: the response is 202, with the job's identifier")
          UrlMode mode,
      @Schema(
              description =
                  "json: the body is the payload, and the return value the response. http: the payload has the whole "
                      + "request, and the return value may be a whole response")
          UrlFormat format,
      @Schema(
              description =
                  "key: requests require an API key that may execute agents. signature: requests require a signature. "
                      + "public: requests require nothing")
          UrlAuthentication authentication,
      @Schema(
              implementation = SignatureScheme.class,
              type = SchemaType.STRING,
              nullable = true,
              description = "How requests are signed; null unless authentication is signature")
          SignatureScheme signatureScheme,
      @Schema(
              nullable = true,
              description =
                  "Until when signatures with the secret before the present one are valid, which may be over; null if the change of the secret kept none")
          Instant previousSecretUntil,
      @Schema(
              description =
                  "The origins whose pages may read the responses (CORS), or * for all; empty for none")
          List<String> corsOrigins,
      @Schema(
              nullable = true,
              description =
                  "The maximum number of requests per minute on each replica; null for no limit of its own")
          Integer requestsPerMinute,
      @Schema(
              description =
                  "How long a request waits for the result, 1 to 60 seconds. After that, the response is 202, and the "
                      + "job continues")
          int waitSeconds,
      @Schema(description = "Only in the response to a request that has generated or set it")
          @JsonInclude(JsonInclude.Include.NON_NULL)
          String secret,
      Instant createdAt,
      Instant updatedAt) {
    static View of(AgentUrl url, RoostConfig config) {
      return of(url, config, null);
    }

    static View withSecret(AgentUrl url, RoostConfig config) {
      return of(url, config, url.secret);
    }

    private static View of(AgentUrl url, RoostConfig config, String secret) {
      String name = URLEncoder.encode(url.agentName, StandardCharsets.UTF_8).replace("+", "%20");
      return new View(
          url.agentId,
          PublicUrl.of(config).orElse("") + PATH + name,
          url.methods,
          url.mode,
          url.format,
          url.authentication,
          url.signatureScheme,
          url.previousSecretUntil,
          url.corsOrigins,
          url.requestsPerMinute,
          url.waitSeconds,
          secret,
          url.createdAt,
          url.updatedAt);
    }
  }
}
