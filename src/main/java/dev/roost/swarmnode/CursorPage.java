package dev.roost.swarmnode;

import dev.roost.api.Cursor;
import dev.roost.api.Problem;
import dev.roost.execution.JobPages;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page of a list of jobs, found by the job next to it. */
public record CursorPage<T>(String next, String previous, List<T> results) {
  private static final Pattern CURSOR = Pattern.compile("(older|newer)-([0-9a-z]{26})");

  /**
   * @param list its name in URLs
   * @param cursor the query parameter, or null
   * @param filters query parameters that the other pages have, too
   * @throws Problem validation_failed
   */
  static <T> CursorPage<T> of(
      CompatUrls urls,
      String list,
      JobPages jobs,
      JobPages.Selection selection,
      String cursor,
      Integer pageSize,
      Map<String, Object> filters,
      Function<JobPages.Run, T> view) {
    int size = NumberedPage.size(pageSize);
    Matcher given = CURSOR.matcher(cursor == null ? "" : cursor);
    if (cursor != null && !given.matches()) {
      throw Cursor.invalid();
    }
    String position = cursor == null ? null : "xjob_" + given.group(2);
    boolean back = cursor != null && given.group(1).equals("newer");
    JobPages.Part part =
        back ? jobs.newer(selection, position, size) : jobs.older(selection, position, size);
    List<JobPages.Run> runs = part.runs();
    String first = runs.isEmpty() ? position : runs.get(0).job().id;
    String last = runs.isEmpty() ? position : runs.get(runs.size() - 1).job().id;
    Function<String, String> url =
        at -> {
          Map<String, Object> query = new LinkedHashMap<>(filters);
          query.put("page_size", size);
          query.put("cursor", at);
          return urls.ofList(list, query);
        };
    boolean isNext = back || part.more();
    boolean isPrevious = back ? part.more() : cursor != null;
    return new CursorPage<>(
        isNext ? url.apply("older-" + CompatIds.JOB.address(last)) : null,
        isPrevious ? url.apply("newer-" + CompatIds.JOB.address(first)) : null,
        runs.stream().map(view).toList());
  }
}
