package dev.roost.webhook;

import io.vertx.core.http.HttpClosedException;
import java.math.BigDecimal;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLException;

/** Messages about failed requests to receivers, for a person. */
final class Failures {
  private Failures() {}

  static String ofLookup(String host, Throwable failure) {
    Throwable cause = Lookups.cause(failure);
    if (cause instanceof UnknownHostException) {
      return "the name \"" + host + "\" has no address";
    }
    if (cause instanceof RejectedExecutionException) {
      return "too many names are being resolved; \"" + host + "\" has to wait";
    }
    return "the name \"" + host + "\" cannot be resolved: " + text(cause);
  }

  static String ofConnection(String where, Throwable failure) {
    if (isOfTls(failure)) {
      return "TLS with " + where + " failed: " + text(innermost(failure));
    }
    // A timeout is also a ConnectException.
    if (failure instanceof ConnectException
        && String.valueOf(failure.getMessage()).contains("refused")) {
      return where + " refuses connections";
    }
    return "could not connect to " + where + ": " + text(failure);
  }

  /**
   * @param status of a partial response, or null
   */
  static String ofExchange(Integer status, Throwable failure) {
    String begun = status == null ? "without a response" : "within the response (" + status + ")";
    if (failure instanceof HttpClosedException) {
      return "the receiver closed the connection " + begun;
    }
    if (String.valueOf(failure.getMessage()).contains("reset")) {
      return "the receiver reset the connection " + begun;
    }
    return "the receiver's response cannot be read: " + text(failure);
  }

  static boolean isOfTls(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SSLException) {
        return true;
      }
    }
    return false;
  }

  static String address(InetAddress address, int port) {
    String text = address.getHostAddress();
    return (text.contains(":") ? "[" + text + "]" : text) + ":" + port;
  }

  static String seconds(Duration duration) {
    return BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros().toPlainString() + " s";
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
    return message == null || message.isBlank() ? failure.getClass().getSimpleName() : message;
  }
}
