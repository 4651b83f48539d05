package dev.roost.notification;

import dev.roost.Ports;
import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.Map;

/** Messages go to servers of the tests, soon. */
public class LoopbackNotified implements QuarkusTestProfile {
  @Override
  public Map<String, String> getConfigOverrides() {
    return Map.of(
        "roost.webhooks.allowed-networks",
        "127.0.0.0/8",
        "roost.notifications.delay",
        "2s",
        "roost.public-url",
        "https://roost.example.org",
        "roost.mail.host",
        "127.0.0.1",
        "roost.mail.port",
        Integer.toString(Ports.free()),
        "roost.mail.encryption",
        "off",
        "roost.mail.from",
        "roost@example.org");
  }
}
