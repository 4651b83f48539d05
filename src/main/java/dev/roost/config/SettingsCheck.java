package dev.roost.config;

import io.smallrye.config.WithDefault;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Rejects invalid numbers and durations of settings (negative values, and zero where zero has no
 * meaning), and settings that contradict each other.
 */
public final class SettingsCheck {
  private static final Pattern ENDPOINT = Pattern.compile("https?://[^\\s/?#@]+/?");

  private SettingsCheck() {}

  /**
   * The first mistake, with the name of the property; empty: all settings are valid.
   *
   * @param config all settings
   */
  public static Optional<String> mistake(RoostConfig config) {
    return mistake(RoostConfig.class, config, "roost")
        .or(() -> mistake(config.files()))
        .or(() -> mistake(config.oauth(), config.publicUrl()));
  }

  private static Optional<String> mistake(RoostConfig.Oauth oauth, Optional<String> publicUrl) {
    if (oauth.issuer().isEmpty()) {
      return Optional.empty();
    }
    if (publicUrl.isEmpty()) {
      return Optional.of("roost.oauth.issuer requires roost.public-url");
    }
    return secure("roost.oauth.issuer", oauth.issuer())
        .or(() -> secure("roost.oauth.jwks-url", oauth.jwksUrl()));
  }

  private static Optional<String> secure(String property, Optional<String> url) {
    // Without the value, which may have a password.
    return url.filter(text -> !SecureUrl.is(text))
        .map(
            text ->
                property
                    + ": must be an https URL without a user and a fragment (http only at a loopback "
                    + "address)");
  }

  private static Optional<String> mistake(RoostConfig.Files files) {
    if (files.bucket().isPresent() && files.directory().isPresent()) {
      return Optional.of("set either roost.files.bucket or roost.files.directory, not both");
    }
    if (files.accessKey().isPresent() != files.secretKey().isPresent()) {
      return Optional.of("roost.files.access-key and roost.files.secret-key require each other");
    }
    return files
        .endpoint()
        .filter(url -> !ENDPOINT.matcher(url).matches())
        .map(
            url ->
                "roost.files.endpoint: must be a URL such as https://s3.example.org, got \""
                    + url
                    + "\"");
  }

  private static Optional<String> mistake(Class<?> mapping, Object config, String prefix) {
    for (Method method : mapping.getDeclaredMethods()) {
      if (method.getParameterCount() > 0 || method.isSynthetic() || method.isDefault()) {
        continue;
      }
      String name = prefix + '.' + property(method.getName());
      Object value = value(method, config);
      Optional<String> mistake =
          method.getReturnType().getEnclosingClass() == RoostConfig.class
              ? mistake(method.getReturnType(), value, name)
              : mistake(
                  method, name, value instanceof Optional<?> some ? some.orElse(null) : value);
      if (mistake.isPresent()) {
        return mistake;
      }
    }
    return Optional.empty();
  }

  private static Optional<String> mistake(Method method, String name, Object value) {
    int sign;
    if (value instanceof Duration duration) {
      sign = duration.isNegative() ? -1 : duration.isZero() ? 0 : 1;
    } else if (value instanceof Number number) {
      double size = number.doubleValue();
      sign = size > 0 ? 1 : size == 0 ? 0 : -1; // NaN is rejected
    } else {
      return Optional.empty();
    }
    boolean orZero = method.isAnnotationPresent(OrZero.class) || isZeroByDefault(method);
    if (sign > 0 || sign == 0 && orZero) {
      return Optional.empty();
    }
    String least = orZero ? "must not be less than 0" : "must be more than 0";
    return Optional.of(name + ": " + least + ", got \"" + value + "\"");
  }

  private static boolean isZeroByDefault(Method method) {
    WithDefault standard = method.getAnnotation(WithDefault.class);
    return standard != null && standard.value().matches("0(?:\\.0|[a-z]{1,2})?");
  }

  private static Object value(Method method, Object config) {
    try {
      return method.invoke(config);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  /** Converts "scriptBytes" to "script-bytes". */
  static String property(String method) {
    return method.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }
}
