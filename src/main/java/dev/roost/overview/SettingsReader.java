package dev.roost.overview;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigValue;

/**
 * Reads the settings: their names from the tables of {@code docs/settings.md}, which is packaged
 * with the application, and their values from the configuration.
 */
final class SettingsReader {
  private static final String SET = "(set)";

  /** Sources with a lower ordinal have only defaults (MicroProfile Config, "ConfigSource"). */
  private static final int LOWEST_SOURCE = 100;

  private static final Pattern ROW =
      Pattern.compile(
          "\\| `(?<name>roost\\.[^`\"]+)(?<map>\\.\"…\")?`(?:<br>`(?<environment>\\w+)`)?"
              + " \\| (?:none|`(?<default>[^`]*)`) \\| (?<description>.*) \\|");

  private static final Pattern SECRET =
      Pattern.compile("(?:password|passphrase|token|api-key|secret-key)");

  /** User and password in the URL of a database or of a package index. */
  private static final Pattern CREDENTIALS =
      Pattern.compile("(?<=//)[^/@\\s]++(?=@)|(?<=[?&;](?:user|password)=)[^&;\\s]++");

  private final Config config;

  SettingsReader(Config config) {
    this.config = config;
  }

  List<Setting> read() {
    return document().lines().map(ROW::matcher).filter(Matcher::matches).map(this::read).toList();
  }

  private Setting read(Matcher row) {
    String name = row.group("name");
    String standard = row.group("default");
    Optional<String> value;
    boolean set;
    if (row.group("map") == null) {
      ConfigValue found = config.getConfigValue(name);
      value = Optional.ofNullable(found.getValue());
      set = value.isPresent() && found.getSourceOrdinal() >= LOWEST_SOURCE;
    } else {
      value = entries(name + ".");
      set = value.isPresent();
    }
    boolean secret = SECRET.matcher(name.substring(name.lastIndexOf('.') + 1)).matches();
    return new Setting(
        row.group("map") == null ? name : name + ".*",
        row.group("environment"),
        value.map(text -> secret ? SET : CREDENTIALS.matcher(text).replaceAll("***")).orElse(null),
        standard,
        row.group("description").replace("\\|", "|"),
        set);
  }

  /** All settings with a prefix, as {@code key=value, …}. */
  private Optional<String> entries(String prefix) {
    return StreamSupport.stream(config.getPropertyNames().spliterator(), false)
        .filter(name -> name.startsWith(prefix))
        .sorted()
        .map(name -> name.substring(prefix.length()) + "=" + config.getConfigValue(name).getValue())
        .reduce((all, one) -> all + ", " + one);
  }

  private static String document() {
    try (InputStream stream = SettingsReader.class.getResourceAsStream("/settings.md")) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
