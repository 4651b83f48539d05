package dev.roost.url;

import dev.roost.api.Body;
import dev.roost.api.Problem;
import java.util.List;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The fields of the URL of an agent. */
@Schema(name = "AgentUrlRequest")
record AgentUrlRequest(
    @Schema(
            description = "GET (which includes HEAD), POST, PUT, PATCH, DELETE; POST by default",
            examples = "[\"POST\"]")
        List<String> methods,
    @Schema(description = "wait (the default) or accept", defaultValue = "wait") UrlMode mode,
    @Schema(description = "json (the default) or http", defaultValue = "json") UrlFormat format,
    @Schema(description = "key (the default), signature or public", defaultValue = "key")
        UrlAuthentication authentication,
    @Schema(
            implementation = SignatureScheme.class,
            type = SchemaType.STRING,
            nullable = true,
            description =
                "How requests are signed: standard_webhooks, github, stripe or slack. Only with the authentication "
                    + "signature, which requires it")
        SignatureScheme signatureScheme,
    @Schema(
            description =
                "The secret that the sender signs with, 16 to 255 characters; of standard_webhooks whsec_ and base64 of "
                    + "24 to 64 bytes. If it is left out, the secret stays as long as the scheme does; without one, "
                    + "Roost generates one for standard_webhooks, and the other schemes require it")
        String secret,
    @Schema(
            description =
                "With a new secret: how long signatures with the one before it stay valid, so that the sender can be "
                    + "changed later than Roost. By default, they are refused at once",
            minimum = "0",
            maximum = "604800",
            defaultValue = "0")
        int previousSecretSeconds,
    @Schema(
            description =
                "The origins whose pages may read the responses, at most 20, or * for all; none by default",
            examples = "[\"https://app.example.org\"]")
        List<String> corsOrigins,
    @Schema(
            nullable = true,
            minimum = "1",
            maximum = "100000",
            description =
                "The maximum number of requests per minute on each replica. The authentication public requires it")
        Integer requestsPerMinute,
    @Schema(
            description =
                "How long a request waits for the result; after that, the response is 202",
            minimum = "1",
            maximum = "60",
            defaultValue = "30")
        int waitSeconds) {
  static final List<String> METHODS = List.of("GET", "POST", "PUT", "PATCH", "DELETE");
  private static final int DEFAULT_WAIT_SECONDS = 30;
  private static final int MOST_WAIT_SECONDS = 60;
  private static final int MOST_ORIGINS = 20;
  private static final int WEEK_SECONDS = 7 * 86_400;
  private static final int MOST_REQUESTS = 100_000;

  /** As browsers send it: scheme, host and port unless that is the scheme's. */
  private static final Pattern ORIGIN =
      Pattern.compile("https?://(?:[a-z0-9._-]{1,253}|\\[[0-9a-f:.]{2,45}])(?::[0-9]{1,5})?");

  /**
   * @throws Problem malformed_json, validation_failed
   */
  static AgentUrlRequest of(byte[] utf8) {
    Body body = Body.parse(utf8);
    UrlAuthentication authentication =
        body.choice("authentication", UrlAuthentication.class).orElse(UrlAuthentication.KEY);
    AgentUrlRequest request =
        new AgentUrlRequest(
            methods(body),
            body.choice("mode", UrlMode.class).orElse(UrlMode.WAIT),
            body.choice("format", UrlFormat.class).orElse(UrlFormat.JSON),
            authentication,
            scheme(body, authentication),
            body.isNull("secret") ? null : body.string("secret").orElse(null),
            body.integer("previous_secret_seconds", 0, WEEK_SECONDS).orElse(0),
            origins(body),
            limit(body, authentication),
            body.integer("wait_seconds", 1, MOST_WAIT_SECONDS).orElse(DEFAULT_WAIT_SECONDS));
    request.checkSecret(body);
    body.check();
    return request;
  }

  private static List<String> methods(Body body) {
    List<String> methods = body.choices("methods", METHODS).orElse(List.of("POST"));
    if (methods.isEmpty()) {
      body.reject("methods", "out_of_range", "methods must have at least one method.");
    }
    return methods;
  }

  private static SignatureScheme scheme(Body body, UrlAuthentication authentication) {
    boolean isSigned = authentication == UrlAuthentication.SIGNATURE;
    SignatureScheme scheme =
        body.isNull("signature_scheme")
            ? null
            : body.choice("signature_scheme", SignatureScheme.class).orElse(null);
    if (isSigned && (body.json("signature_scheme").isEmpty() || body.isNull("signature_scheme"))) {
      body.reject(
          "signature_scheme",
          "required",
          "signature_scheme is required with the authentication signature.");
    }
    if (!isSigned && scheme != null) {
      body.reject(
          "signature_scheme",
          "contradiction",
          "signature_scheme requires the authentication signature.");
    }
    return scheme;
  }

  private void checkSecret(Body body) {
    if (secret == null) {
      if (previousSecretSeconds > 0) {
        body.reject(
            "previous_secret_seconds",
            "contradiction",
            "previous_secret_seconds requires a new secret.");
      }
      return;
    }
    if (authentication != UrlAuthentication.SIGNATURE) {
      body.reject("secret", "contradiction", "secret requires the authentication signature.");
    } else if (signatureScheme != null) {
      signatureScheme
          .mistakeIn(secret)
          .ifPresent(mistake -> body.reject("secret", "invalid_secret", mistake));
    }
  }

  private static List<String> origins(Body body) {
    List<String> origins =
        body.strings("cors_origins").orElse(List.of()).stream().distinct().toList();
    if (origins.size() > MOST_ORIGINS) {
      body.reject(
          "cors_origins",
          "out_of_range",
          "An agent can have at most %d origins.".formatted(MOST_ORIGINS));
    }
    for (int i = 0; i < origins.size(); i++) {
      if (!origins.get(i).equals("*") && !ORIGIN.matcher(origins.get(i)).matches()) {
        body.reject(
            "cors_origins/" + i,
            "invalid_origin",
            "An origin must be as browsers send it, in lower case and without a path, for example "
                + "https://app.example.org; or * for all.");
      }
    }
    return origins;
  }

  private static Integer limit(Body body, UrlAuthentication authentication) {
    boolean isMissing =
        body.isNull("requests_per_minute") || body.json("requests_per_minute").isEmpty();
    if (isMissing && authentication == UrlAuthentication.PUBLIC) {
      body.reject(
          "requests_per_minute",
          "required",
          "requests_per_minute is required with the authentication public.");
    }
    return isMissing ? null : body.integer("requests_per_minute", 1, MOST_REQUESTS).orElse(null);
  }
}
