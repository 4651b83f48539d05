package dev.roost.oauth;

import dev.roost.Ports;
import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.Map;

/** With an identity provider, which the test starts at its address. */
public class OauthSettings implements QuarkusTestProfile {
  static final String PUBLIC = "https://roost.example.org";
  static final int REQUESTS_PER_MINUTE = 400;

  @Override
  public Map<String, String> getConfigOverrides() {
    return Map.of(
        "roost.public-url",
        PUBLIC,
        "roost.oauth.issuer",
        "http://127.0.0.1:" + Ports.free(),
        "roost.access-log",
        "true",
        "roost.limits.requests-per-minute",
        Integer.toString(REQUESTS_PER_MINUTE));
  }
}
