package dev.roost.config;

import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.eclipse.microprofile.config.spi.ConfigSource;

/** Rejects unknown settings: a misspelt name would silently leave the default in force. */
public final class UnknownSettings {
  private static final String PREFIX = "roost.";
  private static final String VARIABLE_PREFIX = "ROOST_";

  /** The largest edit distance that counts as a typo. */
  private static final int SLIP = 2;

  /** The largest edit distance for a suggestion. */
  private static final int SUGGESTED = 6;

  private final Set<String> names = new TreeSet<>();

  /** Names of maps, whose keys are arbitrary. */
  private final Set<String> maps = new TreeSet<>();

  private final Set<String> variables = new TreeSet<>();

  /** Prefixes of environment variables for groups and maps. */
  private final Set<String> groups = new TreeSet<>();

  private UnknownSettings() {
    add(RoostConfig.class, "roost");
    names.forEach(name -> variables.add(variable(name)));
  }

  /**
   * The first mistake, with a suggested name; empty: all names are known.
   *
   * @param sources where settings come from: files, system properties, the environment
   */
  public static Optional<String> mistake(Iterable<ConfigSource> sources) {
    UnknownSettings known = new UnknownSettings();
    Set<String> given = new TreeSet<>();
    sources.forEach(source -> given.addAll(source.getPropertyNames()));
    return given.stream().flatMap(name -> known.mistake(name).stream()).findFirst();
  }

  private void add(Class<?> mapping, String prefix) {
    for (Method method : mapping.getDeclaredMethods()) {
      String name = prefix + '.' + SettingsCheck.property(method.getName());
      if (method.getReturnType().getEnclosingClass() == RoostConfig.class) {
        groups.add(variable(name) + '_');
        add(method.getReturnType(), name);
      } else if (method.getReturnType() == Map.class) {
        maps.add(name);
      } else if (!method.isSynthetic()) {
        names.add(name);
      }
    }
  }

  private Optional<String> mistake(String given) {
    if (given.startsWith(PREFIX)) {
      String name = given.replaceFirst("\\[\\d++]$", ""); // An element of a list.
      boolean known = names.contains(name) || maps.stream().anyMatch(map -> isBelow(map, name));
      return known ? Optional.empty() : Optional.of(refusal(given, nearest(names, name)));
    }
    return given.startsWith(VARIABLE_PREFIX) ? mistakeOfVariable(given) : Optional.empty();
  }

  private static boolean isBelow(String map, String name) {
    return name.startsWith(map + '.') && name.length() > map.length() + 1;
  }

  /**
   * The environment may contain ROOST_… variables of other programs, such as the SDK's ROOST_URL.
   * Only a name within a group of settings, or similar to a setting's name, is a mistake.
   */
  private Optional<String> mistakeOfVariable(String given) {
    String name = given.replaceFirst("_\\d++_$", "");
    Optional<String> nearest = nearest(variables, name);
    boolean known =
        variables.contains(name) || maps.stream().anyMatch(map -> given.startsWith(variable(map)));
    boolean meant =
        groups.stream().anyMatch(name::startsWith)
            || nearest.map(near -> distance(name, near) <= SLIP).orElse(false);
    return known || !meant ? Optional.empty() : Optional.of(refusal(given, nearest));
  }

  private static String refusal(String given, Optional<String> nearest) {
    return "there is no setting "
        + given
        + nearest
            .map(name -> "; did you mean " + name + "?")
            .orElse("; docs/settings.md lists all settings");
  }

  private static Optional<String> nearest(Set<String> names, String given) {
    return names.stream()
        .min(Comparator.comparingInt(name -> distance(name, given)))
        .filter(name -> distance(name, given) <= SUGGESTED);
  }

  private static String variable(String name) {
    return name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_");
  }

  /** Levenshtein distance: insertions, deletions and replacements of characters. */
  private static int distance(String one, String other) {
    int[] row = new int[other.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[other.length()];
  }
}
