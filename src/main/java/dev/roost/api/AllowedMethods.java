package dev.roost.api;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The methods that a path supports. RFC 9110 requires the list in every 405 response, and RESTEasy
 * omits the list.
 */
@ApplicationScoped
class AllowedMethods {
  private static final Pattern PARAMETER = Pattern.compile("\\{[^:}]+(?::\\s*([^}]+))?}");

  private final Map<Pattern, Set<String>> methods = new LinkedHashMap<>();

  AllowedMethods(BeanManager beans) {
    Map<String, Set<String>> byPath = new LinkedHashMap<>();
    for (Bean<?> bean : beans.getBeans(Object.class, Any.Literal.INSTANCE)) {
      Path root = bean.getBeanClass().getAnnotation(Path.class);
      if (root != null) {
        for (Method method : bean.getBeanClass().getMethods()) {
          collect(root.value(), method, byPath);
        }
      }
    }
    byPath.forEach((path, names) -> methods.put(Pattern.compile(path), names));
  }

  /**
   * Methods in alphabetical order, for the Allow header.
   *
   * @return empty if no resource has that path
   */
  Set<String> at(String path) {
    Set<String> all = new TreeSet<>();
    methods.forEach(
        (pattern, names) -> {
          if (pattern.matcher(path).matches()) {
            all.addAll(names);
          }
        });
    if (all.contains("GET")) {
      all.add("HEAD");
    }
    if (!all.isEmpty()) {
      all.add("OPTIONS");
    }
    return all;
  }

  private static void collect(String root, Method method, Map<String, Set<String>> byPath) {
    for (Annotation annotation : method.getAnnotations()) {
      HttpMethod name = annotation.annotationType().getAnnotation(HttpMethod.class);
      if (name != null) {
        Path rest = method.getAnnotation(Path.class);
        String template = "/" + root + (rest == null ? "" : "/" + rest.value());
        byPath.computeIfAbsent(expression(template), key -> new TreeSet<>()).add(name.value());
      }
    }
  }

  private static String expression(String template) {
    String path = template.replaceAll("/+", "/").replaceAll("(?<=.)/$", "");
    return PARAMETER
            .matcher(path)
            .replaceAll(
                match -> match.group(1) == null ? "[^/]++" : "(?:" + match.group(1).strip() + ")")
        + "/?";
  }
}
