package dev.roost.api;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A page of a list, newest first.
 *
 * @param nextCursor the {@code cursor} for the next page; null on the last page
 */
public record Page<T>(
    List<T> data,
    @Schema(
            nullable = true,
            description =
                "The value of cursor (of after, for events) for the next page; null on the last page")
        String nextCursor) {
  public static final int DEFAULT_LIMIT = 50;
  public static final int MAX_LIMIT = 200;

  /**
   * @param rows up to {@code limit + 1}: an additional row means that a next page exists
   */
  public static <R, T> Page<T> of(
      List<R> rows, int limit, Function<R, String> id, Function<R, T> view) {
    boolean more = rows.size() > limit;
    List<R> shown = more ? rows.subList(0, limit) : rows;
    return new Page<>(
        shown.stream().map(view).toList(), more ? id.apply(shown.get(shown.size() - 1)) : null);
  }

  /** The same page with other views. */
  public <V> Page<V> map(Function<T, V> view) {
    return new Page<>(data.stream().map(view).toList(), nextCursor);
  }

  /**
   * The maximum size of a page of rows with large columns, in bytes. A page ends early to limit the
   * use of memory.
   */
  private static final long MAX_BYTES = 16 << 20;

  /** The identifier and the size of a row that may be large. */
  public record Sized(String id, long bytes) {
    /** From the columns {@code id} and {@code bytes}. */
    public static Sized of(ResultSet row) throws SQLException {
      return new Sized(row.getString("id"), row.getLong("bytes"));
    }
  }

  /**
   * A page of rows that may be large, selected by identifier and size before the rows are loaded.
   *
   * @param rows up to {@code limit + 1}
   * @param load loads the views of the given identifiers in the same order
   */
  public static <T> Page<T> fitting(
      List<Sized> rows, int limit, Function<List<String>, List<T>> load) {
    List<String> ids = new ArrayList<>();
    long bytes = 0;
    for (Sized row : rows) {
      bytes += row.bytes();
      if (ids.size() == limit || (bytes > MAX_BYTES && !ids.isEmpty())) {
        break;
      }
      ids.add(row.id());
    }
    boolean more = ids.size() < rows.size();
    return new Page<>(
        ids.isEmpty() ? List.of() : load.apply(ids), more ? ids.get(ids.size() - 1) : null);
  }

  /**
   * @param limit the query parameter, or null
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
