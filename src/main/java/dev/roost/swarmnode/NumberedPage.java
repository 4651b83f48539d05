package dev.roost.swarmnode;

import dev.roost.api.Problem;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A page of a list that is found by its number.
 *
 * @param next the URL of the next page; null on the last one
 * @param previous null on the first page
 */
public record NumberedPage<T>(
    String next, String previous, long totalCount, int currentPage, List<T> results) {
  private static final int DEFAULT_SIZE = 10;

  /** Of larger pages, clients get this many results and follow the URLs. */
  private static final int MOST = 100;

  /** Which page is requested. */
  record Position(int page, int size) {
    /**
     * @param page the query parameter, or null; also {@code size}
     * @throws Problem validation_failed
     */
    static Position of(Integer page, Integer size) {
      return new Position(positive("page", page, 1), NumberedPage.size(size));
    }

    int first() {
      return (int) Math.min(Integer.MAX_VALUE - MOST, (page - 1L) * size);
    }

    /** For Panache, which includes the last one. */
    int last() {
      return first() + size - 1;
    }
  }

  /**
   * @throws Problem validation_failed
   */
  static int size(Integer given) {
    return Math.min(MOST, positive("page_size", given, DEFAULT_SIZE));
  }

  private static int positive(String name, Integer given, int otherwise) {
    if (given != null && given < 1) {
      throw Problem.invalid("?" + name, "out_of_range", name + " must be 1 or more.");
    }
    return given == null ? otherwise : given;
  }

  /**
   * @param filters query parameters that the other pages have, too
   */
  static <T> NumberedPage<T> of(
      CompatUrls urls,
      String list,
      Position position,
      Map<String, Object> filters,
      long total,
      List<T> results) {
    boolean more = (long) position.page() * position.size() < total;
    return new NumberedPage<>(
        more ? url(urls, list, position, position.page() + 1, filters) : null,
        position.page() > 1 ? url(urls, list, position, position.page() - 1, filters) : null,
        total,
        position.page(),
        results);
  }

  private static String url(
      CompatUrls urls, String list, Position position, int page, Map<String, Object> filters) {
    Map<String, Object> query = new LinkedHashMap<>(filters);
    query.put("page", page);
    query.put("page_size", position.size());
    return urls.ofList(list, query);
  }
}
