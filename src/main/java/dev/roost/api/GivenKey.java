package dev.roost.api;

import dev.roost.config.RoostConfig;
import dev.roost.db.Sql;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The API key from a file of the operator. The key exists after every start, and a previous key
 * from the file is deleted.
 */
@ApplicationScoped
class GivenKey {
  private static final Sql STORE =
      Sql.of(
          """
          insert into api_key (id, name, role, secret_sha256, created_at)
          values (:id, :name, :role, :hash, :now)
          on conflict (id) do nothing
          """);

  private static final String NAME = "key of the installation";
  private static final Pattern FORM =
      Pattern.compile("roost_([0-9a-z]{8,40})_([0-9A-Za-z]{32,128})");

  private final Optional<Path> file;
  private final Clock clock;

  GivenKey(RoostConfig config, Clock clock) {
    this.file = config.apiKeyFile();
    this.clock = clock;
  }

  void ensure(@Observes StartupEvent event) {
    if (file.isPresent()) {
      Matcher key = read(file.get());
      QuarkusTransaction.requiringNew().run(() -> ensure(key.group(1), key.group(2)));
    }
  }

  private void ensure(String id, String secret) {
    String keyId = "key_" + id;
    byte[] sha256 = Text.sha256(secret);
    // A new secret makes a new key, and sessions of the previous key end.
    ApiKey.delete("name = ?1 and id <> ?2 or id = ?2 and secretSha256 <> ?3", NAME, keyId, sha256);
    STORE
        .with("id", keyId)
        .with("name", NAME)
        .with("role", Role.WRITE.code())
        .with("hash", sha256)
        .with("now", clock.instant())
        .update(ApiKey.getEntityManager());
  }

  private static Matcher read(Path file) {
    String text;
    try {
      text = Files.readString(file).strip();
    } catch (IOException e) {
      throw new IllegalStateException("roost.api-key-file can't be read: " + file, e);
    }
    Matcher key = FORM.matcher(text);
    if (!key.matches()) {
      throw new IllegalStateException(
          "roost.api-key-file "
              + file
              + " contains no API key; API keys have the form roost_<8 to 40 of 0-9a-z>_<32 to 128 "
              + "letters and digits>");
    }
    return key;
  }
}
