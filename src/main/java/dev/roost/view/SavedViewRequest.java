package dev.roost.view;

import dev.roost.api.Body;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The validated fields of a request that creates or changes a view.
 *
 * @param sort an empty inner value: the list's own order
 * @param columns an empty inner value: the columns that the list has at first
 */
record SavedViewRequest(
    Optional<SavedView.ViewedList> list,
    Optional<String> name,
    Optional<String> filter,
    Optional<Optional<String>> sort,
    Optional<Optional<List<String>>> columns,
    Optional<Boolean> grouped) {
  private static final int MOST_NAME_CHARACTERS = 100;
  private static final int MOST_FILTER_CHARACTERS = 1_000;
  private static final int MOST_COLUMNS = 30;
  private static final Pattern SORT = Pattern.compile("-?[a-z_]{1,40}");
  private static final Pattern COLUMN = Pattern.compile("[a-z0-9_]{1,40}");

  /** The schema of the request. */
  @Schema(
      name = "SavedViewRequest",
      description =
          "list and name are required at creation; list cannot be changed. In an update, fields that "
              + "are left out keep their values.")
  record Fields(
      @Schema(description = "The list that it is of") SavedView.ViewedList list,
      @Schema(description = "A name, unique among the views of the list", maxLength = 100)
          String name,
      @Schema(
              description = "The text of the dashboard's filter field",
              maxLength = 1_000,
              defaultValue = "")
          String filter,
      @Schema(nullable = true, description = "A value of the list's sort parameter") String sort,
      @Schema(
              type = SchemaType.ARRAY,
              nullable = true,
              maxItems = 30,
              description = "The columns that are shown")
          List<String> columns,
      @Schema(defaultValue = "false", description = "Whether agents are grouped by tag")
          boolean grouped) {}

  static SavedViewRequest read(Body body) {
    Optional<String> name = body.string("name").map(String::strip);
    if (name.filter(SavedViewRequest::isNoName).isPresent()) {
      body.reject(
          "name", "out_of_range", "A name must have 1 to " + MOST_NAME_CHARACTERS + " characters.");
    }
    Optional<String> filter = body.string("filter").map(String::strip);
    if (filter.filter(text -> text.length() > MOST_FILTER_CHARACTERS).isPresent()) {
      body.reject(
          "filter",
          "too_long",
          "filter can have at most " + MOST_FILTER_CHARACTERS + " characters.");
    }
    return new SavedViewRequest(
        body.choice("list", SavedView.ViewedList.class),
        name,
        filter,
        sort(body),
        columns(body),
        body.bool("grouped"));
  }

  private static boolean isNoName(String name) {
    return name.isEmpty() || name.codePointCount(0, name.length()) > MOST_NAME_CHARACTERS;
  }

  private static Optional<Optional<String>> sort(Body body) {
    if (body.isNull("sort")) {
      return Optional.of(Optional.empty());
    }
    Optional<String> sort = body.string("sort");
    if (sort.filter(text -> !SORT.matcher(text).matches()).isPresent()) {
      body.reject(
          "sort", "not_a_choice", "sort must be a value of the list's sort, such as -created.");
    }
    return sort.map(Optional::of);
  }

  private static Optional<Optional<List<String>>> columns(Body body) {
    if (body.isNull("columns")) {
      return Optional.of(Optional.empty());
    }
    Optional<List<String>> columns =
        body.strings("columns").map(given -> given.stream().distinct().toList());
    if (columns.filter(SavedViewRequest::areNoColumns).isPresent()) {
      body.reject(
          "columns",
          "invalid_columns",
          "columns must be at most %d names of columns, such as last_execution."
              .formatted(MOST_COLUMNS));
    }
    return columns.map(Optional::of);
  }

  private static boolean areNoColumns(List<String> columns) {
    return columns.size() > MOST_COLUMNS
        || !columns.stream().allMatch(column -> COLUMN.matcher(column).matches());
  }

  /** Copies the given fields, except the list. */
  void apply(SavedView view) {
    name.ifPresent(value -> view.name = value);
    filter.ifPresent(value -> view.filter = value);
    sort.ifPresent(value -> view.sort = value.orElse(null));
    columns.ifPresent(
        value -> view.columns = value.map(list -> list.toArray(String[]::new)).orElse(null));
    grouped.ifPresent(value -> view.grouped = value);
  }
}
