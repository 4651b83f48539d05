package dev.roost.swarmnode;

import dev.roost.api.PublicUrl;
import dev.roost.config.RoostConfig;
import io.quarkus.vertx.http.runtime.CurrentVertxRequest;
import io.vertx.core.http.HttpServerRequest;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Complete URLs in responses, which the sender of the request follows as they are. A proxy says
 * with {@code X-Forwarded-Host} where it is; without that, {@code roost.public-url} or the
 * request's own address counts. A header that somebody makes up only changes the URLs that they get
 * themselves.
 */
@ApplicationScoped
class CompatUrls {
  private static final Pattern HOST =
      Pattern.compile("(?:[A-Za-z0-9._-]{1,255}|\\[[0-9A-Fa-f:.]{2,45}])(?::\\d{1,5})?");

  private static final Pattern PREFIX = Pattern.compile("(?:/[A-Za-z0-9._~-]{1,100}){1,20}");

  private final CurrentVertxRequest request;
  private final Optional<String> publicUrl;

  CompatUrls(CurrentVertxRequest request, RoostConfig config) {
    this.request = request;
    this.publicUrl = PublicUrl.of(config);
  }

  /**
   * @param path begins with a slash
   */
  String of(String path) {
    return base(request.getCurrent().request(), publicUrl) + path;
  }

  /**
   * A URL of the list that is requested.
   *
   * @param query null values are left out
   */
  String ofList(String list, Map<String, Object> query) {
    return of(CompatPaths.API + list + "/")
        + query.entrySet().stream()
            .filter(entry -> entry.getValue() != null)
            .map(entry -> entry.getKey() + "=" + encoded(entry.getValue().toString()))
            .collect(Collectors.joining("&", "?", ""));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  static String base(HttpServerRequest request, Optional<String> publicUrl) {
    Optional<String> host = forwarded(request, "X-Forwarded-Host", HOST);
    if (host.isEmpty() && publicUrl.isPresent()) {
      return publicUrl.get();
    }
    String own = request.getHeader("Host");
    String scheme =
        forwarded(request, "X-Forwarded-Proto", Pattern.compile("https?"))
            .orElseGet(request::scheme);
    return scheme
        + "://"
        + host.orElse(own != null && HOST.matcher(own).matches() ? own : "localhost")
        + forwarded(request, "X-Forwarded-Prefix", PREFIX).orElse("");
  }

  /** The first of several values is that of the proxy next to the client. */
  private static Optional<String> forwarded(HttpServerRequest request, String name, Pattern form) {
    return Optional.ofNullable(request.getHeader(name))
        .map(text -> text.split(",", 2)[0].strip())
        .map(text -> text.endsWith("/") ? text.substring(0, text.length() - 1) : text)
        .filter(text -> form.matcher(text).matches());
  }
}
