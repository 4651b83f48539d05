package dev.roost;

import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.Map;

/**
 * Settings that differ from their defaults, for all tests that need one of them: Quarkus builds and
 * starts the application again for each set of settings.
 */
public class ChangedSettings implements QuarkusTestProfile {
  /** What a DataStore can have. */
  public static final int STORE_BYTES = 15_000_000;

  @Override
  public Map<String, String> getConfigOverrides() {
    return Map.ofEntries(
        Map.entry("roost.internal-port", Integer.toString(Ports.free())),
        Map.entry("roost.public-url", "https://roost.example.org"),
        Map.entry("roost.access-log", "true"),
        Map.entry("quarkus.http.access-log.enabled", "true"),
        // An operator's instead of Roost's: executors' requests get to it.
        Map.entry("quarkus.http.access-log.exclude-pattern", "/nothing"),
        Map.entry("roost.limits.store-bytes", Integer.toString(STORE_BYTES)),
        Map.entry("roost.limits.body-timeout", "15s"),
        Map.entry("roost.limits.body-memory-bytes", "33554432"),
        Map.entry("roost.webhooks.allowed-networks", "127.0.0.0/8"),
        Map.entry("roost.webhooks.timeout", "30s"),
        Map.entry("roost.notifications.delay", "2s"),
        Map.entry("roost.mail.host", "127.0.0.1"),
        Map.entry("roost.mail.port", Integer.toString(Ports.free())),
        Map.entry("roost.mail.encryption", "off"),
        Map.entry("roost.mail.from", "roost@example.org"));
  }
}
