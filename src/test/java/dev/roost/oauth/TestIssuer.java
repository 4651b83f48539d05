package dev.roost.oauth;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jose4j.jwk.JsonWebKey.OutputControlLevel;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.jose4j.lang.JoseException;

/** An identity provider: metadata and keys by HTTP, and tokens signed with them. */
public final class TestIssuer implements AutoCloseable {
  private final String url;
  private final HttpServer server;
  private final AtomicInteger requests = new AtomicInteger();
  private volatile PublicJsonWebKey key = newKey("first");
  private volatile int status = 200;

  public TestIssuer(String url) throws IOException {
    this.url = url;
    this.server =
        HttpServer.create(
            new InetSocketAddress(InetAddress.getByName("127.0.0.1"), URI.create(url).getPort()),
            0);
    serve(
        "/.well-known/oauth-authorization-server",
        () -> "{\"issuer\": \"%s\", \"jwks_uri\": \"%s/keys\"}".formatted(url, url));
    serve(
        "/keys",
        () -> {
          requests.incrementAndGet();
          return new JsonWebKeySet(List.of(key)).toJson(OutputControlLevel.PUBLIC_ONLY);
        });
    server.start();
  }

  private interface Body {
    String text();
  }

  private void serve(String path, Body body) {
    server.createContext(
        path,
        exchange -> {
          byte[] bytes = body.text().getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  static PublicJsonWebKey newKey(String id) {
    try {
      PublicJsonWebKey key = RsaJwkGenerator.generateJwk(2048);
      key.setKeyId(id);
      return key;
    } catch (JoseException e) {
      throw new IllegalStateException(e);
    }
  }

  PublicJsonWebKey key() {
    return key;
  }

  void rotate(String id) {
    key = newKey(id);
  }

  void answerWith(int status) {
    this.status = status;
  }

  /** How often the keys were requested. */
  int requests() {
    return requests.get();
  }

  /** Valid for ten minutes. */
  public JwtClaims claims(String subject, String audience, String scope) {
    JwtClaims claims = new JwtClaims();
    claims.setIssuer(url);
    claims.setSubject(subject);
    claims.setAudience(audience);
    claims.setIssuedAtToNow();
    claims.setExpirationTimeMinutesInTheFuture(10);
    if (scope != null) {
      claims.setClaim("scope", scope);
    }
    return claims;
  }

  /** Ends that many seconds from now, without the leeway. */
  static JwtClaims expiring(JwtClaims claims, long seconds) {
    NumericDate end = NumericDate.now();
    end.addSeconds(seconds);
    claims.setExpirationTime(end);
    claims.setIssuedAt(NumericDate.fromSeconds(end.getValue() - 600));
    return claims;
  }

  public String token(JwtClaims claims) {
    return signed(claims, key, "RS256", "at+jwt");
  }

  static String signed(JwtClaims claims, PublicJsonWebKey key, String algorithm, String type) {
    try {
      JsonWebSignature jws = new JsonWebSignature();
      jws.setPayload(claims.toJson());
      jws.setKey(key.getPrivateKey());
      jws.setKeyIdHeaderValue(key.getKeyId());
      jws.setAlgorithmHeaderValue(algorithm);
      if (type != null) {
        jws.setHeader("typ", type);
      }
      return jws.getCompactSerialization();
    } catch (JoseException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
