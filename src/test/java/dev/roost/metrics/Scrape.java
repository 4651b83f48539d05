package dev.roost.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the text format of Prometheus, as far as Roost writes it. */
public final class Scrape {
  private static final Pattern TYPE = Pattern.compile("# TYPE (\\S++) (\\S++)");
  private static final Pattern SAMPLE = Pattern.compile("([a-z0-9_]++)(?:\\{([^}]*+)\\})? (\\S++)");
  private static final Pattern LABEL = Pattern.compile("([a-z_]++)=\"([^\"]*+)\"");

  /** The type of each metric. */
  public final Map<String, String> types = new TreeMap<>();

  private final List<Sample> samples = new ArrayList<>();

  /** One value. */
  public record Sample(String name, Map<String, String> labels, double value) {}

  public Scrape(String text) {
    for (String line : text.lines().toList()) {
      Matcher type = TYPE.matcher(line);
      Matcher sample = SAMPLE.matcher(line);
      if (type.matches()) {
        types.put(type.group(1), type.group(2));
      } else if (sample.matches()) {
        Map<String, String> labels = new TreeMap<>();
        if (sample.group(2) != null) {
          LABEL.matcher(sample.group(2)).results().forEach(l -> labels.put(l.group(1), l.group(2)));
        }
        samples.add(new Sample(sample.group(1), labels, number(sample.group(3))));
      } else if (!line.startsWith("# HELP ")) {
        throw new AssertionError("not the format of Prometheus: " + line);
      }
    }
  }

  private static double number(String text) {
    return Double.parseDouble(text.replace("Inf", "Infinity"));
  }

  /**
   * The sum of the samples of that name that have these labels.
   *
   * @param labels name, value, name, value, …
   */
  public double value(String name, String... labels) {
    List<Sample> found = samples.stream().filter(one -> matches(one, name, labels)).toList();
    if (found.isEmpty()) {
      throw new AssertionError("there is no " + name + " " + List.of(labels));
    }
    return found.stream().mapToDouble(Sample::value).sum();
  }

  private static boolean matches(Sample sample, String name, String... labels) {
    boolean matches = sample.name().equals(name);
    for (int i = 0; i < labels.length; i += 2) {
      matches &= labels[i + 1].equals(sample.labels().get(labels[i]));
    }
    return matches;
  }

  /** The names of labels of a metric, without that of buckets. */
  public Set<String> labels(String metric) {
    Set<String> names = new TreeSet<>();
    for (Sample sample : samples) {
      if (sample.name().equals(metric) || sample.name().equals(metric + "_count")) {
        names.addAll(sample.labels().keySet());
      }
    }
    return names;
  }
}
