package dev.roost.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * Describes an expression in words, by its meaning, not by its text. So every expression has a
 * description, and two with different meanings never have the same one.
 */
final class CronWords {
  private static final int CLOCK_TIMES = 6; // longer lists are described in another way

  private final long minutes;
  private final long hours;
  private final CronDayWords days;

  CronWords(long minutes, long hours, long months, CronDays days) {
    this.minutes = minutes;
    this.hours = hours;
    this.days = new CronDayWords(months, days);
  }

  @Override
  public String toString() {
    boolean clock = clockTimes();
    String time = clock ? "At " + clockList() : time();
    return time + days.words(clock ? " every day" : "");
  }

  private boolean clockTimes() {
    int hourCount = Long.bitCount(hours);
    if (hourCount == 24) {
      return false;
    }
    Series series = Series.of(minutes);
    if (hourCount == 1) {
      return series == null;
    }
    int count = hourCount * Long.bitCount(minutes);
    boolean oneMinute = Long.bitCount(minutes) == 1;
    return oneMinute ? Series.of(hours) == null : series == null && count <= CLOCK_TIMES;
  }

  private String clockList() {
    List<String> times = new ArrayList<>();
    for (int hour : CronBits.of(hours)) {
      for (int minute : CronBits.of(minutes)) {
        times.add(clock(hour, minute));
      }
    }
    return list(times);
  }

  private String time() {
    if (Long.bitCount(hours) == 24) {
      return ofEveryHour();
    }
    Series every = Series.of(minutes);
    Series hour = Long.bitCount(hours) == 1 ? single(hours) : Series.of(hours);
    if (Long.bitCount(minutes) == 1) {
      return everyHours(hour, single(minutes).first);
    }
    boolean one = Long.bitCount(hours) == 1;
    if (every != null && hour != null && (one || hour.step == 1 && every.wholeHour())) {
      return "Every %s from %s through %s"
          .formatted(
              count(every.step, "minute"),
              clock(hour.first, every.first),
              clock(hour.last, every.last));
    }
    return minutesOf(every) + " of " + hoursOf(hour);
  }

  private String ofEveryHour() {
    Series every = Series.of(minutes);
    if (minutes == 1) {
      return "Every hour";
    }
    if (every != null && every.first == 0 && every.wholeHour()) {
      return "Every " + count(every.step, "minute");
    }
    return minutesOf(every) + " of every hour";
  }

  private static String everyHours(Series hour, int minute) {
    if (hour.first == 0 && minute == 0 && hour.last + hour.step == 24) {
      return "Every " + count(hour.step, "hour");
    }
    return "Every %s from %s through %s"
        .formatted(count(hour.step, "hour"), clock(hour.first, minute), clock(hour.last, minute));
  }

  private String minutesOf(Series every) {
    if (every == null) {
      boolean one = Long.bitCount(minutes) == 1;
      return (one ? "At minute " : "At minutes ") + list(minutes, Integer::toString);
    }
    if (every.first == 0 && every.wholeHour()) {
      return "Every " + count(every.step, "minute");
    }
    if (every.step == 1) {
      return "At minutes %d through %d".formatted(every.first, every.last);
    }
    return "Every %d minutes from minute %d through %d"
        .formatted(every.step, every.first, every.last);
  }

  private String hoursOf(Series hour) {
    if (hour == null) {
      return "the hours " + list(hours, Integer::toString);
    }
    if (hour.step == 1) {
      return "the hours %d through %d".formatted(hour.first, hour.last);
    }
    return "every %s hour from %d through %d".formatted(ordinal(hour.step), hour.first, hour.last);
  }

  private static Series single(long bits) {
    int only = CronBits.next(bits, 0);
    return new Series(only, only, 1);
  }

  /** At least three numbers at equal distances. */
  record Series(int first, int last, int step) {
    /** Returns null for fewer numbers, or for different distances. */
    static Series of(long bits) {
      List<Integer> numbers = CronBits.of(bits);
      if (numbers.size() < 3) {
        return null;
      }
      int first = numbers.get(0);
      int last = numbers.get(numbers.size() - 1);
      int step = numbers.get(1) - first;
      return CronBits.range(first, last, step) == bits ? new Series(first, last, step) : null;
    }

    /** Whether the series continues in the next hour at the same distance. */
    boolean wholeHour() {
      return first + 60 - last == step;
    }
  }

  private static String clock(int hour, int minute) {
    return "%02d:%02d".formatted(hour, minute);
  }

  private static String count(int number, String unit) {
    return number == 1 ? unit : number + " " + unit + "s";
  }

  static String ordinal(int number) {
    boolean teen = number / 10 == 1;
    String ending =
        switch (teen ? 0 : number % 10) {
          case 1 -> "st";
          case 2 -> "nd";
          case 3 -> "rd";
          default -> "th";
        };
    return number + ending;
  }

  static String list(long bits, IntFunction<String> word) {
    return list(CronBits.of(bits).stream().map(word::apply).collect(Collectors.toList()));
  }

  static String list(List<String> words) {
    int last = words.size() - 1;
    return last == 0
        ? words.get(0)
        : String.join(", ", words.subList(0, last)) + " and " + words.get(last);
  }
}
