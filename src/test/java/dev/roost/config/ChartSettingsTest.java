package dev.roost.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Holds the chart's value {@code settings} and {@link RoostConfig} together: the schema of the
 * chart's values lists each setting by its name and kind, so Helm refuses what is misspelt.
 */
class ChartSettingsTest {
  private static final Path SCHEMA = Path.of("k8s/roost/values.schema.json");
  private static final String BEGIN = "    \"settings\": {\n";
  private static final String END = "\n    },\n";

  /** What other values of the chart say, or what a pod can't have. */
  private static final Pattern NOT_HERE =
      Pattern.compile(
          "roost\\.(?:(?:runtime|host|port|internal-port|metrics-port|data|api-key-file|new-api-key|exit-with-parent)"
              + "|(?:database|link|local)\\..*"
              + "|kubernetes\\.(?:instance|namespace|service-account|executor-url|executor-image|builder-image"
              + "|repository|pull-repository|insecure-registry|registry-secret|image-pull-secrets|tolerations"
              + "|profiles|network-policies|egress-except|egress-allowed|node-selector))");

  /**
   * The settings of Quarkus that an operator may need; all others could break what Roost relies on.
   */
  private static final Map<String, String> QUARKUS =
      Map.ofEntries(
          // What is logged.
          Map.entry("quarkus.log.level", "text"),
          Map.entry("quarkus.log.console.level", "text"),
          Map.entry("quarkus.log.console.format", "text"),
          // How many connections a replica opens, which a pooler or a small database bounds.
          Map.entry("quarkus.datasource.jdbc.max-size", "number"),
          Map.entry("quarkus.datasource.jdbc.acquisition-timeout", "duration"),
          // How long the first start waits for the database.
          Map.entry("quarkus.flyway.connect-retries", "number"),
          Map.entry("quarkus.flyway.connect-retries-interval", "duration"),
          // Whether a proxy's headers tell the client's address.
          Map.entry("quarkus.http.proxy.proxy-address-forwarding", "flag"),
          Map.entry("quarkus.http.proxy.allow-forwarded", "flag"),
          Map.entry("quarkus.http.proxy.allow-x-forwarded", "flag"),
          Map.entry("quarkus.http.proxy.trusted-proxies", "text"));

  @Test
  void theChartTakesEverySettingThatItDoesNotSetItself() throws IOException {
    String schema = Files.readString(SCHEMA);
    int begin = schema.indexOf(BEGIN) + BEGIN.length();
    int end = schema.indexOf(END, begin);
    assertTrue(begin >= BEGIN.length() && end >= begin, SCHEMA + " has no settings");
    String expected = schema.substring(0, begin) + settings() + schema.substring(end);
    if (Boolean.getBoolean("settings.write")) {
      Files.writeString(SCHEMA, expected);
    } else {
      assertEquals(
          expected,
          schema,
          SCHEMA
              + " is not what RoostConfig says. Rewrite it with:"
              + " ./mvnw test -Dtest=ChartSettingsTest -Dsettings.write=true");
    }
  }

  private static String settings() {
    Map<String, String> kinds = new TreeMap<>(QUARKUS);
    Map<String, String> maps = new TreeMap<>();
    maps.put("quarkus\\.log\\.category\\.\"[^\"]+\"\\.level", "text");
    add(RoostConfig.class, "roost", kinds, maps);
    return """
              "type": "object",
              "description": "Properties of Roost, and a few of Quarkus; docs/settings.md has what they mean. Written by ChartSettingsTest.",
              "additionalProperties": false,
              "properties": {
        %s
              },
              "patternProperties": {
        %s
              }"""
        .formatted(lines(kinds.keySet(), kinds, ""), lines(maps.keySet(), maps, "^%s$"));
  }

  private static String lines(Set<String> names, Map<String, String> kinds, String form) {
    return names.stream()
        .map(
            name ->
                "        \"%s\": {\"$ref\": \"#/definitions/%s\"}"
                    .formatted(
                        (form.isEmpty() ? name : form.formatted(name))
                            .replace("\\", "\\\\")
                            .replace("\"", "\\\""),
                        kinds.get(name)))
        .collect(Collectors.joining(",\n"));
  }

  private static void add(
      Class<?> mapping, String prefix, Map<String, String> kinds, Map<String, String> maps) {
    for (Method method : mapping.getDeclaredMethods()) {
      Class<?> type = method.getReturnType();
      String name = prefix + '.' + SettingsCheck.property(method.getName());
      if (type.getEnclosingClass() == RoostConfig.class) {
        add(type, name, kinds, maps);
      } else if (NOT_HERE.matcher(name).matches() || method.isSynthetic()) {
        continue;
      } else if (type == Map.class) {
        maps.put(name.replace(".", "\\.") + "\\..+", "text");
      } else {
        kinds.put(name, kind(type));
      }
    }
  }

  private static String kind(Class<?> type) {
    if (type == boolean.class) {
      return "flag";
    }
    if (type == int.class || type == long.class) {
      return "number";
    }
    if (type == double.class) {
      return "fraction";
    }
    return type == Duration.class ? "duration" : "text";
  }
}
