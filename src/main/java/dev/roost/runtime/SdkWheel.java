package dev.roost.runtime;

import io.quarkus.runtime.util.ClassPathUtils;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The wheel of this server's Python SDK, which agents that require {@code roost} get. Other
 * versions of the SDK, and packages of that name in an index, are never installed.
 *
 * @param path relative to the directory that contains the package {@code roost_builder}
 */
public record SdkWheel(String path, String version, String sha256) {
  public static final String NAME = "roost";

  private static final String DIRECTORY = "sdk";
  private static final SdkWheel OWN = find();

  /** A normalised requirement of the SDK: the name with extras, the version, and the marker. */
  private static final Pattern REQUIREMENT =
      Pattern.compile("(roost(?:\\[[^\\]]*+])?+)(==[^ ;]++)?+( ;.*+)?+");

  public static SdkWheel own() {
    return OWN;
  }

  /**
   * The requirements with the wheel's hash instead of its version, so that the text identifies the
   * installed SDK.
   */
  public Requirements resolved(Requirements requirements) {
    return new Requirements(requirements.lines().stream().map(this::resolved).toList());
  }

  private String resolved(String requirement) {
    Matcher matcher = REQUIREMENT.matcher(requirement);
    if (!matcher.matches()) {
      return requirement;
    }
    String marker = matcher.group(3) == null ? "" : matcher.group(3);
    return matcher.group(1) + " @ sha256:" + sha256 + marker;
  }

  private static SdkWheel find() {
    List<SdkWheel> found = new ArrayList<>();
    try {
      ClassPathUtils.consumeAsPaths(
          SdkWheel.class.getClassLoader(), "python/" + DIRECTORY, root -> collect(root, found));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (found.size() != 1) {
      throw new IllegalStateException(
          "the application has " + found.size() + " wheels of the SDK instead of one");
    }
    return found.get(0);
  }

  private static void collect(Path root, List<SdkWheel> found) {
    try (Stream<Path> all = Files.list(root)) {
      for (Path file : (Iterable<Path>) all::iterator) {
        String name = file.getFileName().toString();
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
        found.add(
            new SdkWheel(
                DIRECTORY + "/" + name, name.split("-")[1], HexFormat.of().formatHex(hash)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
