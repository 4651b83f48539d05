package dev.roost;

import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.Map;

/** The same for tests with a {@link FollowerDatabase}. */
public class ChangedFollowerSettings implements QuarkusTestProfile {
  @Override
  public Map<String, String> getConfigOverrides() {
    return Map.of(
        "roost.metrics-port",
        Integer.toString(Ports.free()),
        "roost.limits.payload-bytes",
        "8388608");
  }
}
