package dev.roost.bulk;

import dev.roost.api.Body;
import java.util.List;

/** The identifiers in a request for many. */
final class Selected {
  /** Each is a transaction of its own, so that a request takes seconds at most. */
  static final int MOST = 200;

  private Selected() {}

  /**
   * @return without duplicates
   */
  static List<String> read(Body body, String name) {
    body.require(name);
    List<String> ids = body.strings(name).orElse(List.of()).stream().distinct().toList();
    if (ids.size() > MOST) {
      body.reject(
          name,
          "too_many",
          "%s can have at most %d identifiers. Send several requests.".formatted(name, MOST));
    }
    return ids;
  }
}
