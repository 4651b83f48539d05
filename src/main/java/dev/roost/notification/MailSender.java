package dev.roost.notification;

import dev.roost.api.Text;
import io.vertx.core.Vertx;
import io.vertx.ext.mail.MailClient;
import io.vertx.ext.mail.MailConfig;
import io.vertx.ext.mail.MailMessage;
import io.vertx.ext.mail.MailResult;
import io.vertx.ext.mail.SMTPException;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLException;

/**
 * Sends e-mail. Each message has a connection of its own, which closes when the message is sent or
 * late: messages are rare, and a mail server that hangs holds nothing. No thread waits.
 */
@ApplicationScoped
class MailSender {
  private static final int ERROR_CHARACTERS = 300;

  private final Vertx vertx;
  private final MailSettings settings;

  MailSender(Vertx vertx, MailSettings settings) {
    this.vertx = vertx;
    this.settings = settings;
  }

  /**
   * Never fails: the result describes failures.
   *
   * @param messageId the same at each attempt, so that mail programs show a repeated message once
   */
  CompletionStage<SendResult> send(Channel channel, String messageId, Composer.Composed composed) {
    if (!settings.isConfigured()) {
      return CompletableFuture.completedFuture(
          SendResult.failed("there is no mail server: roost.mail.host is not set"));
    }
    MailConfig config;
    try {
      config = settings.config();
    } catch (IOException e) {
      return CompletableFuture.completedFuture(SendResult.failed(e.getMessage()));
    }
    String domain = settings.from().substring(settings.from().indexOf('@') + 1);
    MailMessage message =
        new MailMessage()
            .setFrom(settings.from())
            .setTo(channel.recipients())
            .setSubject(composed.subject())
            .setText(composed.text())
            .setHtml(composed.html())
            .addHeader("Message-ID", "<" + messageId + "@" + domain + ">")
            .addHeader("Auto-Submitted", "auto-generated");
    CompletableFuture<SendResult> result = new CompletableFuture<>();
    MailClient client = MailClient.create(vertx, config);
    long timer =
        vertx.setTimer(
            settings.timeout().toMillis(),
            id ->
                result.complete(
                    SendResult.failed(
                        "the mail server %s did not accept the message within %d s"
                            .formatted(settings.server(), settings.timeout().toSeconds()))));
    result.whenComplete(
        (done, failure) -> {
          vertx.cancelTimer(timer);
          client.close();
        });
    client
        .sendMail(message)
        .onSuccess(sent -> result.complete(accepted(channel.recipients(), sent)))
        .onFailure(failure -> result.complete(failed(failure)));
    return result;
  }

  private static SendResult accepted(List<String> recipients, MailResult sent) {
    List<String> refused =
        recipients.stream().filter(one -> !sent.getRecipients().contains(one)).toList();
    return refused.isEmpty()
        ? SendResult.succeeded()
        : SendResult.partly("the mail server refuses " + String.join(", ", refused));
  }

  private SendResult failed(Throwable failure) {
    String server = "the mail server " + settings.server();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SMTPException smtp) {
        return replied(server, smtp);
      }
      if (cause instanceof UnknownHostException) {
        return SendResult.failed(server + " has no address: its name is not known");
      }
      if (cause instanceof SSLException) {
        return SendResult.failed("TLS with " + server + " failed: " + text(innermost(cause)));
      }
      if (cause instanceof ConnectException) {
        return SendResult.failed("could not connect to " + server + ": " + text(cause));
      }
    }
    return SendResult.failed("could not send by " + server + ": " + text(failure));
  }

  /** RFC 5321, 4.2.1 and RFC 4954, 4.7: 5yz is permanent, but a password can be corrected. */
  private static SendResult replied(String server, SMTPException smtp) {
    int code = smtp.getReplyCode();
    String reply = server + " replied: " + text(smtp);
    if (code == 530 || code == 534 || code == 535 || code == 538) {
      return SendResult.failed(
          server + " refuses the user or the password (roost.mail.user): " + reply(smtp));
    }
    return code >= 500 && code < 600 ? SendResult.rejected(reply) : SendResult.failed(reply);
  }

  private static String reply(SMTPException smtp) {
    return oneLine(String.join(" ", smtp.getReplyMessages()));
  }

  private static Throwable innermost(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  private static String text(Throwable failure) {
    String message = failure.getMessage();
    return message == null || message.isBlank()
        ? failure.getClass().getSimpleName()
        : oneLine(message);
  }

  private static String oneLine(String text) {
    return Text.beginning(Composer.oneLine(text), ERROR_CHARACTERS);
  }
}
