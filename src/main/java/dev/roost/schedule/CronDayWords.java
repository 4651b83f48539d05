package dev.roost.schedule;

import static dev.roost.schedule.CronWords.list;
import static dev.roost.schedule.CronWords.ordinal;

import java.time.DayOfWeek;
import java.time.Month;
import java.time.format.TextStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Describes the days of an expression in words. */
final class CronDayWords {
  private static final List<String> NTH = List.of("first", "second", "third", "fourth", "fifth");

  private final CronDays days;

  /** As in "the 1st of January". */
  private final String of;

  /** As in "Monday in January", with the space before; empty for every month. */
  private final String in;

  CronDayWords(long months, CronDays days) {
    this.days = days;
    boolean everyMonth = Long.bitCount(months) == 12;
    String names = everyMonth ? "" : months(months);
    this.of = everyMonth ? " of the month" : " of " + names;
    this.in = everyMonth ? "" : " in " + names;
  }

  /** The words with a leading space; {@code everyDay} when every day matches. */
  String words(String everyDay) {
    boolean allOfMonth = days.ofMonth().all();
    boolean allOfWeek = days.ofWeek().all();
    if (days.either() ? allOfMonth || allOfWeek : allOfMonth && allOfWeek) {
      return everyDay + in;
    }
    if (allOfWeek) {
      return on(ofMonth());
    }
    if (allOfMonth) {
      return on(ofWeek());
    }
    return days.either()
        ? on(ofMonth()) + ", and also" + on(ofWeek())
        : on(ofWeek()) + ", but only when that falls" + on(ofMonth());
  }

  private static String on(List<String> parts) {
    int last = parts.size() - 1;
    String others = String.join(", on ", parts.subList(0, last));
    return " on " + (last == 0 ? "" : others + " and on ") + parts.get(last);
  }

  private List<String> ofMonth() {
    CronDays.OfMonth ofMonth = days.ofMonth();
    List<String> parts = new ArrayList<>();
    if (ofMonth.numbers() != 0) {
      parts.add(numbers(ofMonth.numbers()) + of);
    }
    for (int number : CronBits.of(ofMonth.nearestWeekdayTo())) {
      parts.add("the weekday nearest to the " + ordinal(number) + of);
    }
    for (int before : CronBits.of(ofMonth.beforeLast())) {
      String ahead =
          switch (before) {
            case 0 -> "";
            case 1 -> "the day before ";
            default -> "the day " + before + " days before ";
          };
      parts.add(ahead + "the last day" + of);
    }
    if (ofMonth.lastWeekday()) {
      parts.add("the last weekday" + of);
    }
    return parts;
  }

  private static String numbers(long numbers) {
    CronWords.Series series = CronWords.Series.of(numbers);
    if (series == null) {
      return "the " + list(numbers, CronWords::ordinal);
    }
    String through = "the " + ordinal(series.first()) + " through the " + ordinal(series.last());
    return series.step() == 1
        ? through
        : "every " + ordinal(series.step()) + " day from " + through;
  }

  private List<String> ofWeek() {
    CronDays.OfWeek ofWeek = days.ofWeek();
    List<String> parts = new ArrayList<>();
    if (ofWeek.days() != 0) {
      parts.add(daysOfWeek(ofWeek.days()) + in);
    }
    for (int day = 1; day <= 7; day++) {
      List<String> which = new ArrayList<>();
      for (int n = 1; n <= 5; n++) {
        if ((ofWeek.nth() >>> (7 * (n - 1) + day % 7) & 1) != 0) {
          which.add(NTH.get(n - 1));
        }
      }
      if ((ofWeek.last() >>> day % 7 & 1) != 0) {
        which.add("last");
      }
      if (!which.isEmpty()) {
        parts.add("the " + list(which) + " " + name(day) + of);
      }
    }
    return parts;
  }

  /** Writes three or more consecutive days as a range, also across the end of a week. */
  private static String daysOfWeek(long days) {
    int count = Long.bitCount(days);
    for (int first = 1; count >= 3 && first <= 7; first++) {
      boolean run = true;
      for (int day = first; day < first + count; day++) {
        run &= (days >>> day % 7 & 1) != 0;
      }
      if (run) {
        return name(first) + " to " + name(first + count - 1);
      }
    }
    return list(days >>> 1 | (days & 1) << 6, bit -> name(bit + 1));
  }

  private static String months(long months) {
    CronWords.Series series = CronWords.Series.of(months);
    return series != null && series.step() == 1
        ? month(series.first()) + " to " + month(series.last())
        : list(months, CronDayWords::month);
  }

  private static String month(int number) {
    return Month.of(number).getDisplayName(TextStyle.FULL, Locale.ENGLISH);
  }

  private static String name(int day) {
    return DayOfWeek.of((day + 6) % 7 + 1).getDisplayName(TextStyle.FULL, Locale.ENGLISH);
  }
}
