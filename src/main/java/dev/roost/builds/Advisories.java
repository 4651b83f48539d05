package dev.roost.builds;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.config.RoostConfig;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jboss.logging.Logger;

/**
 * Known vulnerabilities of base images, from a file of the operator ({@code
 * roost.rollouts.advisories}). The file is read again after a change; when the new version can't be
 * read, the previous advisories stay in force.
 */
@ApplicationScoped
public class Advisories {
  private static final Logger LOG = Logger.getLogger(Advisories.class);
  private static final long MAX_BYTES = 16 << 20;
  private static final Duration AGE = Duration.ofSeconds(10);

  private final Optional<Path> file;
  private final ObjectMapper mapper;
  private volatile Known known = new Known(0, -1, Map.of());

  @Inject
  Advisories(RoostConfig config, ObjectMapper mapper) {
    this(config.rollouts().advisories(), mapper);
  }

  Advisories(Optional<Path> file, ObjectMapper mapper) {
    this.file = file;
    this.mapper = mapper;
  }

  /** One vulnerability of an image. */
  @Schema(name = "Advisory")
  public record Advisory(
      @Schema(examples = "CVE-2026-0001", description = "The identifier that its publisher uses")
          String id,
      @Schema(
              nullable = true,
              examples = "high",
              description = "The severity that its publisher uses")
          String severity,
      @Schema(nullable = true, description = "A description of the vulnerability")
          String summary) {}

  /**
   * @param lookedAt when the file's modification time was last checked, by {@link System#nanoTime}
   * @param modified the file's modification time, milliseconds since 1970; -1: not read yet
   * @param byDigest advisories by image digest, in file order
   */
  private record Known(long lookedAt, long modified, Map<String, List<Advisory>> byDigest) {}

  /** An unreadable file prevents the start. */
  void start(@Observes StartupEvent event) {
    if (file.isPresent()) {
      try {
        known = read(file.get());
      } catch (IOException | IllegalArgumentException e) {
        throw new IllegalStateException(
            "roost.rollouts.advisories: " + file.get() + " cannot be used: " + e.getMessage(), e);
      }
    }
  }

  /**
   * The advisories that a change from one base to another fixes.
   *
   * @param before a reference with a digest; a reference without a digest has no known advisories
   */
  List<Advisory> fixed(String before, String after) {
    List<Advisory> left = of(after);
    return of(before).stream()
        .filter(one -> left.stream().noneMatch(other -> other.id().equals(one.id())))
        .toList();
  }

  private List<Advisory> of(String base) {
    int at = base == null ? -1 : base.indexOf('@');
    return at < 0 ? List.of() : current().getOrDefault(base.substring(at + 1), List.of());
  }

  private Map<String, List<Advisory>> current() {
    Known last = known;
    if (file.isEmpty() || System.nanoTime() - last.lookedAt() < AGE.toNanos()) {
      return last.byDigest();
    }
    try {
      long modified = Files.getLastModifiedTime(file.get()).toMillis();
      known =
          modified == last.modified()
              ? new Known(System.nanoTime(), modified, last.byDigest())
              : read(file.get());
    } catch (IOException | IllegalArgumentException e) {
      LOG.warnf(
          "%s cannot be read, so the previous advisories stay in use: %s",
          file.get(), e.getMessage());
      known = new Known(System.nanoTime(), last.modified(), last.byDigest());
    }
    return known.byDigest();
  }

  private Known read(Path path) throws IOException {
    long modified = Files.getLastModifiedTime(path).toMillis();
    if (Files.size(path) > MAX_BYTES) {
      throw new IllegalArgumentException("it has more than %,d bytes".formatted(MAX_BYTES));
    }
    return new Known(System.nanoTime(), modified, parse(Files.readString(path)));
  }

  /**
   * @param json a list of objects with image (the digest), id, and optionally severity and summary
   * @throws IllegalArgumentException with a description of the mistake
   */
  private Map<String, List<Advisory>> parse(String json) {
    JsonNode list;
    try {
      list = mapper.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("it is not valid JSON: " + e.getOriginalMessage(), e);
    }
    if (list == null || !list.isArray()) {
      throw new IllegalArgumentException("it must be a list of advisories");
    }
    Map<String, List<Advisory>> byDigest = new LinkedHashMap<>();
    for (int i = 0; i < list.size(); i++) {
      JsonNode one = list.get(i);
      String image = one.path("image").textValue();
      String id = one.path("id").textValue();
      if (image == null || !image.startsWith("sha256:") || id == null) {
        throw new IllegalArgumentException(
            "advisory %d must have an \"image\", as in sha256:…, and an \"id\"".formatted(i + 1));
      }
      byDigest
          .computeIfAbsent(image, key -> new ArrayList<>())
          .add(new Advisory(id, one.path("severity").textValue(), one.path("summary").textValue()));
    }
    return byDigest;
  }
}
