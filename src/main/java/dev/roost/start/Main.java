package dev.roost.start;

import dev.roost.config.RoostConfig;
import dev.roost.config.SettingsCheck;
import dev.roost.config.UnknownSettings;
import dev.roost.runtime.local.StartFailed;
import io.quarkus.runtime.LaunchMode;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.quarkus.runtime.configuration.ConfigUtils;
import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.SmallRyeConfig;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.logging.Level;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Starts Roost. A start failure is printed as one line, with exit status 1. */
@QuarkusMain
public final class Main {
  private static final Pattern CONVERSION =
      Pattern.compile(
          ".*config property (\\S+) with .* whilst being converted (?:SRCFG\\d+: )?(.*)",
          Pattern.DOTALL);

  private static final List<String> RUNTIMES = List.of("local", "kubernetes");

  private static final List<String> LOG_FORMATS = List.of("text", JsonLog.FORMAT);

  private Main() {}

  public static void main(String... arguments) {
    try {
      SmallRyeConfig settings = settings();
      RoostConfig config = settings.getConfigMapping(RoostConfig.class);
      Optional<String> mistake =
          UnknownSettings.mistake(settings.getConfigSources())
              .or(() -> SettingsCheck.mistake(config));
      if (mistake.isPresent()) {
        throw new StartFailed("invalid setting: " + mistake.get());
      }
      if (!RUNTIMES.contains(config.runtime())) {
        throw new StartFailed(
            "roost.runtime is \"" + config.runtime() + "\"; it must be one of " + RUNTIMES);
      }
      if (!LOG_FORMATS.contains(config.logFormat())) {
        throw new StartFailed(
            "roost.log-format is \"" + config.logFormat() + "\"; it must be one of " + LOG_FORMATS);
      }
      if (config.logFormat().equals(JsonLog.FORMAT)) {
        JsonLog.install(settings.getValue("quarkus.log.console.level", Level.class));
      }
      config.traces().endpoint().ifPresent(Main::trace);
      int status = new LocalStart(config, settings).run(arguments);
      if (!LaunchMode.current().isDev()) { // Development mode calls this method again.
        System.exit(status);
      }
    } catch (StartFailed e) {
      System.err.println("Roost cannot start: " + e.getMessage());
      System.exit(1);
    }
  }

  /** Uses the operator's database when the settings name one. */
  static void useConfiguredDatabase(RoostConfig config) {
    config.database().url().ifPresent(url -> set("quarkus.datasource.jdbc.url", url));
    config.database().username().ifPresent(name -> set("quarkus.datasource.username", name));
    config.database().password().ifPresent(text -> set("quarkus.datasource.password", text));
  }

  private static void trace(String endpoint) {
    set("quarkus.otel.sdk.disabled", "false");
    set("quarkus.otel.exporter.otlp.endpoint", endpoint);
  }

  static void set(String property, String value) {
    System.setProperty(property, value);
  }

  /** The settings as Quarkus will read them; they are needed before Quarkus starts. */
  private static SmallRyeConfig settings() throws StartFailed {
    try {
      return ConfigUtils.configBuilder().withMapping(RoostConfig.class).build();
    } catch (ConfigValidationException e) {
      throw new StartFailed("invalid setting: " + readable(e.getProblem(0).getMessage()), e);
    } catch (IllegalArgumentException | NoSuchElementException e) {
      throw new StartFailed("invalid setting: " + readable(e.getMessage()), e);
    }
  }

  /** Removes SmallRye's codes and class names from a message. */
  static String readable(String message) {
    Matcher conversion = CONVERSION.matcher(message);
    return conversion.matches()
        ? conversion.group(1) + ": " + conversion.group(2)
        : message.replaceAll("\\b[a-z.]+\\.[A-Z]\\w+Exception: |SRCFG\\d+: ", "");
  }
}
