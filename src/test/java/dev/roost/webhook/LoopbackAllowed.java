package dev.roost.webhook;

import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.Map;

/** Webhooks may reach receivers of the tests, and have little time to answer. */
public class LoopbackAllowed implements QuarkusTestProfile {
  static final long TIMEOUT_MILLIS = 2_000;

  @Override
  public Map<String, String> getConfigOverrides() {
    return Map.of(
        "roost.webhooks.allowed-networks",
        "127.0.0.0/8",
        "roost.webhooks.timeout",
        TIMEOUT_MILLIS + "ms");
  }
}
