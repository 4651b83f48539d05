package dev.roost.schedule;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Parses the text of an expression. */
final class CronParser {
  private static final int LONGEST = 500;

  private static final Map<String, String> MACROS =
      Map.of(
          "@HOURLY", "0 * * * *",
          "@DAILY", "0 0 * * *",
          "@MIDNIGHT", "0 0 * * *",
          "@WEEKLY", "0 0 * * 0",
          "@MONTHLY", "0 0 1 * *",
          "@YEARLY", "0 0 1 1 *",
          "@ANNUALLY", "0 0 1 1 *");

  private CronParser() {}

  static Cron parse(String expression) {
    String text = CronField.upperCase(expression.strip());
    if (text.isEmpty()) {
      throw new CronException("The cron expression is empty. " + needed());
    }
    if (text.length() > LONGEST) {
      throw new CronException(
          "The cron expression has %d characters; the limit is %d."
              .formatted(text.length(), LONGEST));
    }
    List<String> fields = fields(text.startsWith("@") ? macro(expression.strip()) : text);
    long minutes = bits(CronField.MINUTE, fields.get(0));
    long hours = bits(CronField.HOUR, fields.get(1));
    CronDays.OfMonth ofMonth = ofMonth(fields.get(2));
    long months = bits(CronField.MONTH, fields.get(3));
    CronDays.OfWeek ofWeek = ofWeek(fields.get(4));
    boolean either = !star(fields.get(2)) && !star(fields.get(4));
    boolean asItHappens = star(fields.get(0)) || star(fields.get(1));
    Cron cron =
        new Cron(
            expression.strip(),
            minutes,
            hours,
            months,
            new CronDays(ofMonth, ofWeek, either),
            asItHappens);
    if (!cron.possible()) {
      throw new CronException(
          ("\"%s\" never matches: no year has such a day. Check the day of the month (\"%s\"), the "
                  + "month (\"%s\") and the day of the week (\"%s\").")
              .formatted(expression.strip(), fields.get(2), fields.get(3), fields.get(4)));
    }
    return cron;
  }

  private static String needed() {
    return "Five fields are required: " + CronField.ORDER + "; for example 0 9 * * MON-FRI.";
  }

  private static String macro(String written) {
    String text = CronField.upperCase(written);
    String fields = MACROS.get(text);
    if (fields != null) {
      return fields;
    }
    String instead = "Write five fields, or one of %s.".formatted(macros());
    if (text.startsWith("@EVERY")) {
      instead = "Write steps instead, for example */5 * * * * for every five minutes.";
    } else if (text.equals("@REBOOT")) {
      instead = "A schedule can only run at times. " + instead;
    }
    throw new CronException("\"%s\" is not known. %s".formatted(CronField.shown(written), instead));
  }

  private static String macros() {
    return MACROS.keySet().stream()
        .map(name -> name.toLowerCase(Locale.ROOT))
        .sorted()
        .collect(Collectors.joining(", "));
  }

  private static List<String> fields(String text) {
    List<String> fields = List.of(text.split("\\s+"));
    if (fields.size() == 5) {
      return fields;
    }
    String reason = "";
    if (fields.size() == 6 && fields.get(5).matches("(19|20)\\d\\d.*")) {
      reason =
          "Years are not supported; use ends_at of the schedule, and write \"%s\". "
              .formatted(String.join(" ", fields.subList(0, 5)));
    } else if (fields.size() == 6 || fields.size() == 7) {
      reason =
          (fields.size() == 6 ? "Seconds are" : "Seconds and years are")
              + " not supported; without %s: \"%s\". "
                  .formatted(
                      fields.size() == 6 ? "them" : "both", String.join(" ", fields.subList(1, 6)));
    }
    throw new CronException(
        "The cron expression has %d field%s. %s%s"
            .formatted(fields.size(), fields.size() == 1 ? "" : "s", reason, needed()));
  }

  private static boolean star(String field) {
    return field.startsWith("*") || field.startsWith("?");
  }

  private static long bits(CronField field, String text) {
    long bits = 0;
    for (String term : terms(field, text)) {
      bits |= CronTerm.range(field, term);
    }
    return bits;
  }

  private static String[] terms(CronField field, String text) {
    String[] terms = text.split(",", -1);
    for (String term : terms) {
      if (term.isEmpty()) {
        throw field.wrong(text, "There is an extra comma.");
      }
    }
    return terms;
  }

  private static CronDays.OfMonth ofMonth(String text) {
    CronField field = CronField.DAY_OF_MONTH;
    long numbers = 0;
    long beforeLast = 0;
    long nearest = 0;
    boolean lastWeekday = false;
    for (String term : terms(field, text)) {
      if (term.equals("L")) {
        beforeLast |= 1;
      } else if (term.equals("LW") || term.equals("WL")) {
        lastWeekday = true;
      } else if (term.startsWith("L-")) {
        beforeLast |= 1L << CronTerm.daysBeforeLast(term);
      } else if (term.endsWith("W")) {
        nearest |= 1L << CronTerm.ofWeekday(term);
      } else {
        numbers |= CronTerm.range(field, term);
      }
    }
    return new CronDays.OfMonth(numbers, beforeLast, nearest, lastWeekday);
  }

  private static CronDays.OfWeek ofWeek(String text) {
    CronField field = CronField.DAY_OF_WEEK;
    long days = 0;
    long last = 0;
    long nth = 0;
    for (String term : terms(field, text)) {
      int hash = term.indexOf('#');
      if (hash >= 0) {
        int day = field.value(term.substring(0, hash)) % 7;
        nth |= 1L << (7 * (CronTerm.nth(term, hash) - 1) + day);
      } else if (term.equals("L")) {
        throw field.wrong(term, "The day of the week is missing. For the last Friday, write FRIL.");
      } else if (term.endsWith("L")) {
        last |= 1L << field.value(term.substring(0, term.length() - 1)) % 7;
      } else {
        long range = CronTerm.range(field, term);
        days |= (range | range >>> 7) & CronDays.OfWeek.ALL;
      }
    }
    return new CronDays.OfWeek(days, last, nth);
  }
}
