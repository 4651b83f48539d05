package dev.roost.webhook;

import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.Map;

/** Webhooks may reach receivers of the tests. */
public class LoopbackAllowed implements QuarkusTestProfile {
  @Override
  public Map<String, String> getConfigOverrides() {
    return Map.of(
        "roost.webhooks.allowed-networks", "127.0.0.0/8", "roost.webhooks.timeout", "30s");
  }
}
