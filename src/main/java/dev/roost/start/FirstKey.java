package dev.roost.start;

import dev.roost.api.ApiKey;
import dev.roost.api.LoginLinks;
import dev.roost.api.Role;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.local.DataDirectory;
import dev.roost.runtime.local.PrivateFiles;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;

/**
 * The API key that a new installation creates for its owner, in a file that only the owner can
 * read.
 */
@ApplicationScoped
class FirstKey {
  private final Path file;
  private final boolean another;
  private final boolean kept;
  private final LoginLinks links;
  private final Clock clock;

  FirstKey(RoostConfig config, LoginLinks links, Clock clock) {
    this.file = new DataDirectory(config.data()).apiKey();
    this.another = config.newApiKey();
    this.kept = DataDirectory.isUsedBy(config);
    this.links = links;
    this.clock = clock;
  }

  /**
   * Creates the key if there is none, or if the settings request another one; before the first
   * request is served.
   */
  void make(@Observes StartupEvent event) {
    if (!kept) {
      return;
    }
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              boolean first = ApiKey.count() == 0;
              if (first || another) {
                make(first ? "first key" : "key of the data directory");
              }
            });
  }

  /** A message with the key's location. */
  String announce() {
    if (!kept) {
      return "API keys are in the database";
    }
    return Files.exists(file)
        ? "API key in " + file
        : "The file "
            + file
            + " does not exist; start once with ROOST_NEW_API_KEY=true to create another key";
  }

  /** Path and query that sign the owner in once; empty: the key is gone, or stored elsewhere. */
  Optional<String> loginUrl() {
    if (!kept) {
      return Optional.empty();
    }
    try {
      String[] parts = String.valueOf(PrivateFiles.read(file)).split("_");
      return parts.length < 2
          ? Optional.empty()
          : links.make("key_" + parts[1]).map(LoginLinks.Link::url);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The file is written before the commit, so that every stored key is known. */
  private void make(String name) {
    try {
      PrivateFiles.writeDurably(file, ApiKey.make(name, Role.WRITE, clock.instant()).text() + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
