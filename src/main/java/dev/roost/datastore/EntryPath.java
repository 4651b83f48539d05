package dev.roost.datastore;

import dev.roost.api.Problem;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads an entry's key from the path that the client sent. The router uses a normalised path, in
 * which ".." removes the part before it and "//" becomes "/": a DELETE of the entry ".." would
 * delete the whole store. So the key is extracted before routing.
 */
@ApplicationScoped
class EntryPath {
  /** A cheap check first, since this code runs for every request. */
  private static final String STORES = "/v1/datastore/";

  private static final Pattern ENTRY =
      Pattern.compile("(" + STORES + "[^/]++/entries/)(.*+)", Pattern.DOTALL);

  private static final String KEY = EntryPath.class.getName();

  /** Runs before everything that reads the path. */
  private static final int FIRST = 10_000;

  void register(@Observes Filters filters) {
    filters.register(EntryPath::setAside, FIRST);
  }

  private static void setAside(RoutingContext context) {
    String path = context.request().path();
    Matcher matcher = path == null || !path.startsWith(STORES) ? null : ENTRY.matcher(path);
    if (matcher == null || !matcher.matches() || context.get(KEY) != null) {
      context.next();
      return;
    }
    context.put(KEY, matcher.group(2));
    String query = context.request().query();
    context.reroute(matcher.group(1) + "key" + (query == null ? "" : "?" + query));
  }

  /**
   * The key in the request's path.
   *
   * @return may be empty
   * @throws Problem validation_failed: not percent-encoded UTF-8
   */
  static String key(RoutingContext context) {
    String encoded = context.get(KEY);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(encoded.length());
    for (int i = 0; i < encoded.length(); i++) {
      char c = encoded.charAt(i);
      if (c == '%') {
        int high = i + 2 <= encoded.length() - 1 ? Character.digit(encoded.charAt(i + 1), 16) : -1;
        int low = i + 2 <= encoded.length() - 1 ? Character.digit(encoded.charAt(i + 2), 16) : -1;
        if (high < 0 || low < 0) {
          throw malformed();
        }
        bytes.write(high << 4 | low);
        i += 2;
      } else {
        bytes.writeBytes(Character.toString(c).getBytes(StandardCharsets.UTF_8));
      }
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes.toByteArray()))
          .toString();
    } catch (CharacterCodingException e) {
      throw malformed();
    }
  }

  private static Problem malformed() {
    return Problem.invalid(
        "key", "invalid_text", "The key in the path must be percent-encoded UTF-8.");
  }
}
