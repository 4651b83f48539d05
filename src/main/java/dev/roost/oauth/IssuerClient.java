package dev.roost.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.config.RoostConfig;
import dev.roost.config.SecureUrl;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.lang.JoseException;

/**
 * Gets the public keys of the issuer, from the address that its metadata has (OpenID Connect
 * Discovery 1.0, or RFC 8414). Follows no redirects.
 */
final class IssuerClient {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int MOST_BYTES = 512 * 1024;
  private static final String METADATA = "/.well-known/oauth-authorization-server";

  private final String issuer;
  private final Optional<String> jwksUrl;
  private final HttpClient http;
  private final ObjectMapper mapper = new ObjectMapper();

  /**
   * @throws IllegalStateException the file with the certificate authorities can't be used
   */
  IssuerClient(String issuer, RoostConfig.Oauth settings) {
    this.issuer = issuer;
    this.jwksUrl = settings.jwksUrl();
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .connectTimeout(TIMEOUT)
            .followRedirects(HttpClient.Redirect.NEVER)
            .version(HttpClient.Version.HTTP_1_1);
    settings.ca().ifPresent(file -> builder.sslContext(trusting(file)));
    this.http = builder.build();
  }

  /** Blocks no thread; ends within three timeouts. Fails with what went wrong. */
  CompletableFuture<List<JsonWebKey>> keys() {
    return jwksUrl
        .map(CompletableFuture::completedFuture)
        .orElseGet(this::discovered)
        .thenCompose(this::get)
        .thenApply(IssuerClient::parsed);
  }

  private CompletableFuture<String> discovered() {
    String base = issuer.replaceAll("/+$", "");
    URI uri = URI.create(base);
    String path = uri.getRawPath();
    String root = base.substring(0, base.length() - path.length());
    return get(base + "/.well-known/openid-configuration")
        .exceptionallyCompose(e -> get(root + METADATA + path))
        .thenApply(this::jwksUrl);
  }

  private String jwksUrl(String metadata) {
    try {
      JsonNode document = mapper.readTree(metadata);
      String url = document.path("jwks_uri").asText();
      if (!document.path("issuer").asText().equals(issuer)) {
        throw failure("its metadata has another issuer than roost.oauth.issuer");
      }
      if (!SecureUrl.is(url)) {
        throw failure("its metadata has no https URL in jwks_uri");
      }
      return url;
    } catch (IOException e) {
      throw failure("its metadata is not JSON");
    }
  }

  private static List<JsonWebKey> parsed(String json) {
    try {
      List<JsonWebKey> keys =
          new JsonWebKeySet(json)
              .getJsonWebKeys().stream().filter(PublicJsonWebKey.class::isInstance).toList();
      if (keys.isEmpty()) {
        throw failure("its key set has no public keys");
      }
      return keys;
    } catch (JoseException e) {
      throw failure("its key set is not a JSON Web Key Set");
    }
  }

  private CompletableFuture<String> get(String url) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(TIMEOUT)
            .header("Accept", "application/json")
            .build();
    return http.sendAsync(request, head -> new BoundedBody(MOST_BYTES, TIMEOUT))
        .thenApply(response -> text(url, response));
  }

  private static String text(String url, HttpResponse<byte[]> response) {
    if (response.statusCode() != 200) {
      throw failure(url + " answered with the status " + response.statusCode());
    }
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  private static CompletionException failure(String message) {
    return new CompletionException(new IOException(message));
  }

  private static SSLContext trusting(Path file) {
    try (InputStream pem = Files.newInputStream(file)) {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int number = 0;
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
        store.setCertificateEntry("ca-" + number++, each);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException("roost.oauth.ca can't be used: " + file, e);
    }
  }
}
