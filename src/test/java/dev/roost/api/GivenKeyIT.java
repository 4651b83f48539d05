package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.TestDatabase;
import dev.roost.config.RoostConfig;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.smallrye.config.SmallRyeConfigBuilder;
import jakarta.inject.Inject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class GivenKeyIT {
  private static final String SECRET = "0123456789abcdefghijABCDEFGHIJ0123456789";

  @Inject Clock clock;
  @Inject Authentication authentication;
  @TempDir Path directory;

  @Test
  void theKeyOfTheFileExistsAfterEveryStart() throws IOException {
    String key = "roost_given00001_" + SECRET;
    start(key + "\n");
    Api api = Api.withKey(key);
    assertEquals(200, api.get("/v1/keys").status());
    start(key);
    assertEquals(200, api.get("/v1/keys").status());

    Api.as(Role.WRITE);
    assertEquals(204, api.delete("/v1/keys/key_given00001").status());
    assertEquals(401, api.get("/v1/keys").status());
    start(key);
    assertEquals(200, api.get("/v1/keys").status());
    assertEquals("write", api.get("/v1/keys/key_given00001").get("role"));
  }

  @Test
  void anotherKeyTakesThePlaceOfTheOneBefore() throws IOException {
    String before = "roost_given00002_" + SECRET;
    String after = "roost_given00003_" + SECRET;
    String users = Api.as(Role.WRITE).key();
    start(before);
    assertEquals(200, Api.withKey(before).get("/v1/keys").status());
    start(after);
    authentication.forget("key_given00002"); // it remembers keys for a few seconds
    assertEquals(401, Api.withKey(before).get("/v1/keys").status());
    assertEquals(200, Api.withKey(after).get("/v1/keys").status());
    assertEquals(200, Api.withKey(users).get("/v1/keys").status());
  }

  @Test
  void anotherSecretOfTheSameKeyTakesThePlaceOfTheOneBefore() throws IOException {
    String before = "roost_given00004_" + SECRET;
    String after = "roost_given00004_z" + SECRET;
    start(before);
    start(after);
    assertEquals(401, Api.withKey(before).get("/v1/keys").status());
    assertEquals(200, Api.withKey(after).get("/v1/keys").status());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "secret",
        "roost_given00005",
        "roost_short_0123456789abcdefghijABCDEFGHIJ0123456789",
        "roost_given00005_tooshort",
        "roost_GIVEN00005_0123456789abcdefghijABCDEFGHIJ0123456789",
        "roost_given00005_0123456789abcdefghijABCDEFGHIJ0123456_89",
        "roost_given00005_0123456789abcdefghijABCDEFGHIJ0123456789 x"
      })
  void whatIsNoKeyStopsTheStartAndIsNotRepeated(String text) {
    IllegalStateException refused = assertThrows(IllegalStateException.class, () -> start(text));
    assertTrue(refused.getMessage().contains("roost.api-key-file"));
    assertFalse(refused.getMessage().contains("given00005"));
  }

  @Test
  void aFileThatIsNotThereStopsTheStart() {
    GivenKey key = new GivenKey(settings(directory.resolve("none")), clock);
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> key.ensure(null));
    assertTrue(refused.getMessage().contains("roost.api-key-file"));
  }

  private void start(String text) throws IOException {
    Path file = directory.resolve("key");
    Files.writeString(file, text);
    new GivenKey(settings(file), clock).ensure(null);
  }

  private static RoostConfig settings(Path file) {
    return new SmallRyeConfigBuilder()
        .addDiscoveredConverters()
        .withMapping(RoostConfig.class)
        .withDefaultValue("roost.data", "/nowhere")
        .withDefaultValue("roost.api-key-file", file.toString())
        .build()
        .getConfigMapping(RoostConfig.class);
  }
}
