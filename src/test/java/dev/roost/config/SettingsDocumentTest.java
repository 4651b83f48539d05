package dev.roost.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.smallrye.config.WithDefault;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Holds {@code docs/settings.md} and {@link RoostConfig} together: names and defaults come from the
 * interface, meanings from the Javadoc in its source. What stands around the tables is written by
 * hand and kept.
 */
class SettingsDocumentTest {
  private static final Path DOCUMENT = Path.of("docs/settings.md");
  private static final Path SOURCE = Path.of("src/main/java/dev/roost/config/RoostConfig.java");
  private static final String BEGIN = "<!-- settings: begin -->\n";
  private static final String END = "<!-- settings: end -->\n";

  /** A Javadoc comment, the annotations after it, and the name of the method or interface. */
  private static final Pattern DOCUMENTED =
      Pattern.compile(
          "/\\*\\*(?<text>(?:[^*]|\\*(?!/))*)\\*/\\s*"
              + "(?:@\\w+(?:\\([^)]*\\))?\\s*)*"
              + "(?:public )?(?:interface (?<type>\\w+)|[\\w<>, ]+ (?<method>\\w+)\\(\\);)");

  @Test
  void theDocumentListsEverySetting() throws IOException {
    String document = Files.readString(DOCUMENT);
    int begin = document.indexOf(BEGIN) + BEGIN.length();
    int end = document.indexOf(END);
    assertTrue(begin >= BEGIN.length() && end >= begin, DOCUMENT + " has lost its marks");
    String expected = document.substring(0, begin) + tables() + document.substring(end);
    if (Boolean.getBoolean("settings.write")) {
      Files.writeString(DOCUMENT, expected);
    } else {
      assertEquals(
          expected,
          document,
          DOCUMENT
              + " is not what RoostConfig says. Rewrite it with:"
              + " ./mvnw test -Dtest=SettingsDocumentTest -Dsettings.write=true");
    }
  }

  private static String tables() throws IOException {
    String source = Files.readString(SOURCE);
    StringBuilder text = new StringBuilder();
    List<Method> top = methods(RoostConfig.class, source);
    text.append(table("roost", top.stream().filter(method -> !isGroup(method)).toList(), source));
    for (Method group : top.stream().filter(SettingsDocumentTest::isGroup).toList()) {
      Class<?> type = group.getReturnType();
      String name = "roost." + kebab(group.getName());
      text.append("\n## ").append(name).append("\n\n");
      String meaning = meaning(source, "type", type.getSimpleName());
      if (!meaning.isEmpty()) {
        text.append(meaning).append("\n\n");
      }
      text.append(table(name, methods(type, source), source));
    }
    return text.toString();
  }

  private static String table(String prefix, List<Method> settings, String source) {
    StringBuilder text =
        new StringBuilder(
            "| property, environment variable | default | meaning |\n|---|---|---|\n");
    for (Method setting : settings) {
      String property = prefix + "." + kebab(setting.getName());
      String meaning = meaning(scope(source, setting), "method", setting.getName());
      if (meaning.isEmpty()) {
        meaning = sentence(setting.getName());
      }
      // Keys of a map can hold what no environment variable's name can.
      String names =
          setting.getReturnType() == Map.class
              ? "`%s.\"…\"`".formatted(property)
              : "`%s`<br>`%s`".formatted(property, variable(property));
      text.append(
          "| %s | %s | %s |\n".formatted(names, defaultOf(setting), meaning.replace("|", "\\|")));
    }
    return text.toString();
  }

  /** In the order of the source; reflection promises none. */
  private static List<Method> methods(Class<?> type, String source) {
    List<Method> methods = new ArrayList<>(Arrays.asList(type.getDeclaredMethods()));
    methods.removeIf(Method::isSynthetic);
    methods.sort((a, b) -> Integer.compare(position(source, a), position(source, b)));
    return methods;
  }

  private static int position(String source, Method method) {
    int start = source.length() - scope(source, method).length();
    int at = source.indexOf(" " + method.getName() + "();", start);
    assertTrue(at >= 0, method + " is not in " + SOURCE);
    return at;
  }

  /** The source from the interface on that declares the method: names occur in several. */
  private static String scope(String source, Method method) {
    String name = "interface " + method.getDeclaringClass().getSimpleName() + " {";
    int start = source.indexOf(name);
    assertTrue(start >= 0, name + " is not in " + SOURCE);
    return source.substring(start);
  }

  private static boolean isGroup(Method method) {
    return method.getReturnType().getEnclosingClass() == RoostConfig.class;
  }

  /** {@code indexUrl} is {@code index-url}, as SmallRye Config names it. */
  private static String kebab(String name) {
    return name.replaceAll("([a-z0-9])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT);
  }

  private static String variable(String property) {
    return property.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_");
  }

  private static String defaultOf(Method setting) {
    WithDefault annotation = setting.getAnnotation(WithDefault.class);
    if (annotation == null) {
      Type type = setting.getGenericReturnType();
      assertTrue(
          isOptional(type) || setting.getReturnType() == Map.class, setting + " has no default");
      return "none";
    }
    return "`" + annotation.value().replace("${user.home}", "~") + "`";
  }

  /** What a setting that needs no explanation means: {@code userName} is "User name." */
  private static String sentence(String name) {
    String words = kebab(name).replace('-', ' ');
    return words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1) + ".";
  }

  private static boolean isOptional(Type type) {
    return type instanceof ParameterizedType generic && generic.getRawType() == Optional.class;
  }

  /** The first Javadoc of that name, as Markdown on one line; empty when it has none. */
  private static String meaning(String source, String group, String name) {
    Matcher documented = DOCUMENTED.matcher(source);
    while (documented.find()) {
      if (name.equals(documented.group(group))) {
        return documented
            .group("text")
            .replaceAll("\\s*\\n\\s*\\*?\\s*", " ")
            .replaceAll("\\{@code\\s+([^}]*)}", "`$1`")
            .strip();
      }
    }
    return "";
  }
}
