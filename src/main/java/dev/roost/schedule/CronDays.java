package dev.roost.schedule;

import java.time.DayOfWeek;
import java.time.LocalDate;

/**
 * The days that an expression matches.
 *
 * @param either whether a match of one of the two fields suffices: as in cron, when neither field
 *     begins with a star
 */
record CronDays(OfMonth ofMonth, OfWeek ofWeek, boolean either) {
  /**
   * Days by their number in the month.
   *
   * @param numbers bits 1 to 31
   * @param beforeLast bit n: n days before the last
   * @param nearestWeekdayTo bits 1 to 31: the nearest of Monday to Friday in the same month
   * @param lastWeekday whether the last of Monday to Friday matches
   */
  record OfMonth(long numbers, long beforeLast, long nearestWeekdayTo, boolean lastWeekday) {
    static final long ALL = 0xFFFF_FFFEL;

    boolean all() {
      return numbers == ALL;
    }

    private long in(Month month) {
      long days = numbers;
      for (int before : CronBits.of(beforeLast)) {
        days |= before < month.length ? 1L << (month.length - before) : 0;
      }
      for (int number : CronBits.of(nearestWeekdayTo)) {
        days |= number <= month.length ? 1L << month.nearestWeekday(number) : 0;
      }
      if (lastWeekday) {
        days |= 1L << month.nearestWeekdayBefore(month.length);
      }
      return days & month.all();
    }
  }

  /**
   * Days of the week.
   *
   * @param days bits 0, which is Sunday, to 6
   * @param last bits 0 to 6: the last one of the month
   * @param nth bit 7 (n - 1) + day: the nth one of the month, n from 1 to 5
   */
  record OfWeek(long days, long last, long nth) {
    static final long ALL = 0x7F;

    boolean all() {
      return days == ALL;
    }

    private long in(Month month) {
      long found = 0;
      for (int number = 1; number <= month.length; number++) {
        int day = month.dayOfWeek(number);
        boolean is =
            (days >>> day & 1) != 0
                || (last >>> day & 1) != 0 && number + 7 > month.length
                || (nth >>> (7 * ((number - 1) / 7) + day) & 1) != 0;
        found |= is ? 1L << number : 0;
      }
      return found;
    }
  }

  /**
   * The relevant properties of a month: its length, and the day of the week (Sunday is 0) before
   * it.
   */
  private record Month(int length, int dayBefore) {
    long all() {
      return (1L << (length + 1)) - 2;
    }

    int dayOfWeek(int number) {
      return (dayBefore + number) % 7;
    }

    private boolean weekday(int number) {
      return dayOfWeek(number) % 6 != 0;
    }

    int nearestWeekdayBefore(int number) {
      int day = number;
      while (!weekday(day)) {
        day--;
      }
      return day;
    }

    int nearestWeekday(int number) {
      if (weekday(number)) {
        return number;
      }
      boolean saturday = dayOfWeek(number) == DayOfWeek.SATURDAY.getValue();
      if (saturday) {
        return number > 1 ? number - 1 : number + 2;
      }
      return number < length ? number + 1 : number - 2;
    }
  }

  /** The matching days of a month, as bits 1 to 31. */
  long in(int year, int month) {
    LocalDate first = LocalDate.of(year, month, 1);
    Month of = new Month(first.lengthOfMonth(), first.getDayOfWeek().getValue() + 6);
    return either ? ofMonth.in(of) | ofWeek.in(of) : ofMonth.in(of) & ofWeek.in(of);
  }
}
