package dev.roost.api;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A part of a list, newest first.
 *
 * @param nextCursor what to pass as {@code cursor} for the next part; null at the end
 */
public record Page<T>(
    List<T> data,
    @Schema(
            nullable = true,
            description =
                "What to pass as cursor (for events: as after) for the next part; null: the end")
        String nextCursor) {
  public static final int DEFAULT_LIMIT = 50;
  public static final int MAX_LIMIT = 200;

  /**
   * @param rows up to {@code limit + 1}: the one too many says that there is a next page
   */
  public static <R, T> Page<T> of(
      List<R> rows, int limit, Function<R, String> id, Function<R, T> view) {
    boolean more = rows.size() > limit;
    List<R> shown = more ? rows.subList(0, limit) : rows;
    return new Page<>(
        shown.stream().map(view).toList(), more ? id.apply(shown.get(shown.size() - 1)) : null);
  }

  /**
   * What a page of rows with large columns may hold, bytes; it ends early rather than fill the
   * memory.
   */
  private static final long MAX_BYTES = 16 << 20;

  /**
   * A page of rows that may be large, found by identifier and size before they are loaded.
   *
   * @param idsAndBytes up to {@code limit + 1} pairs of identifier (String) and size (Number)
   * @param load the views of those identifiers, in that order
   */
  public static <T> Page<T> fitting(
      List<Object[]> idsAndBytes, int limit, Function<List<String>, List<T>> load) {
    List<String> ids = new ArrayList<>();
    long bytes = 0;
    for (Object[] row : idsAndBytes) {
      bytes += ((Number) row[1]).longValue();
      if (ids.size() == limit || (bytes > MAX_BYTES && !ids.isEmpty())) {
        break;
      }
      ids.add((String) row[0]);
    }
    boolean more = ids.size() < idsAndBytes.size();
    return new Page<>(
        ids.isEmpty() ? List.of() : load.apply(ids), more ? ids.get(ids.size() - 1) : null);
  }

  /**
   * @param limit as the query parameter came, or null
   * @throws Problem validation_failed
   */
  public static int limit(Integer limit) {
    if (limit == null) {
      return DEFAULT_LIMIT;
    }
    if (limit < 1 || limit > MAX_LIMIT) {
      throw Problem.invalid("?limit", "out_of_range", "limit must be from 1 to " + MAX_LIMIT + ".");
    }
    return limit;
  }
}
