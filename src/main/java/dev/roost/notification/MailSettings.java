package dev.roost.notification;

import dev.roost.config.RoostConfig;
import io.quarkus.runtime.StartupEvent;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.ext.mail.LoginOption;
import io.vertx.ext.mail.MailConfig;
import io.vertx.ext.mail.StartTLSOptions;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The operator's settings for the mail server, checked. */
@ApplicationScoped
class MailSettings {
  private static final List<String> ENCRYPTIONS = List.of("starttls", "tls", "off");
  private static final Duration MOST_TIMEOUT = Duration.ofMinutes(5);

  private final RoostConfig.Mail settings;

  MailSettings(RoostConfig config) {
    this.settings = config.mail();
    mistake(settings, config.publicUrl())
        .ifPresent(
            mistake -> {
              throw new IllegalStateException(mistake);
            });
  }

  /** Creates this bean at the start, so that a mistake stops it. */
  void start(@Observes StartupEvent event) {}

  private static Optional<String> mistake(RoostConfig.Mail mail, Optional<String> publicUrl) {
    if (publicUrl.isPresent() && !publicUrl.get().matches("https?://[^\\s/\"<>|]+[^\\s\"<>|]*")) {
      return Optional.of(
          "roost.public-url must be a URL, for example https://roost.example.org, not \""
              + publicUrl.get()
              + "\"");
    }
    if (!ENCRYPTIONS.contains(mail.encryption())) {
      return Optional.of(
          "roost.mail.encryption must be starttls, tls or off, not \"" + mail.encryption() + "\"");
    }
    if (mail.timeout().compareTo(MOST_TIMEOUT) > 0) {
      return Optional.of("roost.mail.timeout must be at most 5 minutes");
    }
    if (mail.port() > 65_535) {
      return Optional.of("roost.mail.port must be at most 65535");
    }
    if (mail.host().isEmpty()) {
      return Optional.empty();
    }
    if (mail.from().filter(ChannelRequest::isAddress).isEmpty()) {
      return Optional.of(
          "roost.mail.from must be an e-mail address, for example roost@example.org, if "
              + "roost.mail.host is set");
    }
    if (mail.user().isPresent() && mail.encryption().equals("off")) {
      return Optional.of(
          "roost.mail.encryption must not be off if roost.mail.user is set: the password would be "
              + "sent without encryption");
    }
    if (mail.user().isPresent() == (mail.password().isEmpty() && mail.passwordFile().isEmpty())) {
      return Optional.of(
          "roost.mail.user requires roost.mail.password or roost.mail.password-file, and they "
              + "require the user");
    }
    if (mail.password().isPresent() && mail.passwordFile().isPresent()) {
      return Optional.of("set either roost.mail.password or roost.mail.password-file, not both");
    }
    return Optional.empty();
  }

  boolean isConfigured() {
    return settings.host().isPresent();
  }

  String from() {
    return settings.from().orElseThrow();
  }

  Duration timeout() {
    return settings.timeout();
  }

  /** Host and port, for error messages. */
  String server() {
    return settings.host().orElse("") + ":" + settings.port();
  }

  /**
   * The settings of a connection. Reads files.
   *
   * @throws IOException a file cannot be read; the message names the setting
   */
  MailConfig config() throws IOException {
    boolean tls = settings.encryption().equals("tls");
    boolean startTls = settings.encryption().equals("starttls");
    int millis = Math.toIntExact(settings.timeout().toMillis());
    MailConfig config =
        new MailConfig()
            .setHostname(settings.host().orElseThrow())
            .setPort(settings.port())
            .setSsl(tls)
            .setStarttls(startTls ? StartTLSOptions.REQUIRED : StartTLSOptions.DISABLED)
            .setHostnameVerificationAlgorithm("HTTPS")
            .setKeepAlive(false)
            .setMaxPoolSize(1)
            .setAllowRcptErrors(true)
            .setUserAgent("Roost")
            .setAuthMethods("CRAM-SHA256 CRAM-SHA1 CRAM-MD5 LOGIN PLAIN")
            .setConnectTimeout(millis);
    if (settings.ca().isPresent()) {
      String pem = read(settings.ca().get(), "roost.mail.ca");
      config.setPemTrustOptions(new PemTrustOptions().addCertValue(Buffer.buffer(pem)));
    }
    if (settings.user().isEmpty()) {
      return config.setLogin(LoginOption.DISABLED);
    }
    String password =
        settings.passwordFile().isPresent()
            ? read(settings.passwordFile().get(), "roost.mail.password-file").strip()
            : settings.password().orElseThrow();
    return config
        .setLogin(LoginOption.REQUIRED)
        .setUsername(settings.user().get())
        .setPassword(password);
  }

  private static String read(Path file, String setting) throws IOException {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new IOException("the file of " + setting + " cannot be read: " + file, e);
    }
  }
}
