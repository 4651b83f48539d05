package dev.roost.schedule;

/** Parses one term of a field's list. */
final class CronTerm {
  private CronTerm() {}

  /** The numbers of {@code *}, {@code a}, {@code a-b}, each also with a step, as bits. */
  static long range(CronField field, String term) {
    int slash = term.indexOf('/');
    String values = slash < 0 ? term : term.substring(0, slash);
    int step = slash < 0 ? 1 : step(field, term, term.substring(slash + 1));
    if (values.equals("*") || values.equals("?") && question(field, term, slash)) {
      return CronBits.range(field.lowest, field.highest, step);
    }
    int dash = values.indexOf('-');
    if (dash < 0) {
      int first = value(field, term, values);
      return CronBits.range(first, slash < 0 ? first : field.highest, step);
    }
    int first = value(field, term, values.substring(0, dash));
    int last = value(field, term, values.substring(dash + 1));
    if (field == CronField.DAY_OF_WEEK && last == 0 && first > 0) {
      last = 7; // FRI-SUN
    }
    if (last < first) {
      throw field.wrong(
          term,
          "A range cannot continue after its end"
              + (step > 1 ? "." : "; write \"%s\".".formatted(inTwo(field, first, last))));
    }
    return CronBits.range(first, last, step);
  }

  private static String inTwo(CronField field, int first, int last) {
    int lowest = field == CronField.DAY_OF_WEEK ? 1 : field.lowest;
    return (first == field.highest ? "" : first + "-")
        + field.highest
        + ","
        + (last == lowest ? "" : lowest + "-")
        + last;
  }

  private static boolean question(CronField field, String term, int slash) {
    boolean day = field == CronField.DAY_OF_MONTH || field == CronField.DAY_OF_WEEK;
    if (!day || slash >= 0) {
      throw field.wrong(term, "\"?\" is only valid alone, in a day field; write \"*\".");
    }
    return true;
  }

  private static int value(CronField field, String term, String text) {
    if (text.isEmpty()) {
      throw field.wrong(term, "A number is missing.");
    }
    try {
      return field.value(text);
    } catch (CronException e) {
      if (text.equals(term)) {
        throw e;
      }
      throw new CronException("In \"%s\": %s".formatted(term, e.getMessage()));
    }
  }

  private static int step(CronField field, String term, String text) {
    if (!CronField.isNumber(text) || Integer.parseInt(text) == 0) {
      throw field.wrong(term, "\"/\" must be followed by a number of at least 1.");
    }
    int step = Integer.parseInt(text);
    if (step >= field.size()) {
      throw field.wrong(
          term,
          ("A step of %d exceeds the field, and steps restart with each %s. The maximum is %d; for a "
                  + "single value, write its number.")
              .formatted(step, field.cycle(), field.size() - 1));
    }
    return step;
  }

  /** The number in {@code L-3}. */
  static int daysBeforeLast(String term) {
    String number = term.substring(2);
    if (!CronField.isNumber(number) || Integer.parseInt(number) > 30) {
      throw CronField.DAY_OF_MONTH.wrong(term, "\"L-\" must be followed by a number from 0 to 30.");
    }
    return Integer.parseInt(number);
  }

  /** The number in {@code 15W}. */
  static int ofWeekday(String term) {
    String number = term.substring(0, term.length() - 1);
    if (!CronField.isNumber(number)) {
      throw CronField.DAY_OF_MONTH.wrong(
          term,
          "\"W\" must follow one day, as in 15W. For Monday to Friday, write MON-FRI as the last "
              + "field.");
    }
    return value(CronField.DAY_OF_MONTH, term, number);
  }

  /** The number in {@code MON#2}. */
  static int nth(String term, int hash) {
    String number = term.substring(hash + 1);
    if (!CronField.isNumber(number)
        || Integer.parseInt(number) < 1
        || Integer.parseInt(number) > 5) {
      throw CronField.DAY_OF_WEEK.wrong(
          term,
          "\"#\" must be followed by a number from 1 to 5. For the last weekday of a month, write "
              + "L, as in FRIL.");
    }
    return Integer.parseInt(number);
  }
}
