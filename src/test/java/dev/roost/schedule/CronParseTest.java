package dev.roost.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is no expression, and what is told of it: the field, what was written, what to write
 * instead.
 */
class CronParseTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "60 * * * *     | The minute cannot be \"60\". Allowed are 0 to 59,",
        "* 24 * * *     | The hour cannot be \"24\". Allowed are 0 to 23,",
        "* * 0 * *      | The day of the month cannot be \"0\". Allowed are 1 to 31,",
        "* * 32 * *     | The day of the month cannot be \"32\".",
        "* * * 13 *     | The month cannot be \"13\". Allowed are 1 to 12 or JAN to DEC,",
        "* * * * 8      | The day of the week cannot be \"8\". Allowed are 0 to 7 or SUN to SAT,",
        "-1 * * * *     | A number is missing.",
        "1- * * * *     | A number is missing.",
        "99999999999 * * * * | The minute cannot be \"99999999999\".",
        "1.5 * * * *    | The minute cannot be \"1.5\".",
        "٣ * * * *      | The minute cannot be \"٣\".",
        "1,,2 * * * *   | There is an extra comma.",
        "1, * * * *     | There is an extra comma.",
        "1-2-3 * * * *  | In \"1-2-3\": The minute cannot be \"2-3\".",
        "*/0 * * * *    | \"/\" must be followed by a number of at least 1.",
        "*/ * * * *     | \"/\" must be followed by a number of at least 1.",
        "*/-5 * * * *   | \"/\" must be followed by a number of at least 1.",
        "*/x * * * *    | \"/\" must be followed by a number of at least 1.",
        "*/90 * * * *   | A step of 90 exceeds the field, and steps restart with each hour.",
        "0 */24 * * *   | steps restart with each day. The maximum is 23;",
        "** * * * *     | The minute cannot be \"**\".",
        "*-5 * * * *    | \"*\" must stand alone or before a step.",
        "? * * * *      | \"?\" is only valid alone, in a day field; write \"*\".",
        "0 0 ?/2 * *    | \"?\" is only valid alone, in a day field; write \"*\".",
        "0 22-6 * * *   | write \"22-23,0-6\".",
        "0 23-1 * * *   | write \"23,0-1\".",
        "0 0 * OCT-JAN * | write \"10-12,1\".",
        "0 0 * * SAT-MON | write \"6-7,1\".",
        "0 22-6/2 * * * | A range cannot continue after its end. Allowed",
        "0 0 * * MONDAY | Names have three letters: MON.",
        "0 0 * January * | Names have three letters: JAN.",
        "0 0 MON * *    | \"MON\" is a day of the week; the order is minute, hour, day of the month,",
        "0 0 * * JAN    | \"JAN\" is a month; the order is",
        "H * * * *      | \"H\" is only supported by Jenkins.",
        "0 0 * * L      | For the last Friday, write FRIL.",
        "L * * * *      | The minute cannot be \"L\".",
        "0 0 L/2 * *    | The day of the month cannot be \"L\".",
        "0 0 L-31 * *   | \"L-\" must be followed by a number from 0 to 30.",
        "0 0 W * *      | \"W\" must follow one day, as in 15W.",
        "0 0 1-5W * *   | \"W\" must follow one day, as in 15W.",
        "0 0 32W * *    | In \"32W\": The day of the month cannot be \"32\".",
        "0 0 MON#2 * *  | The day of the month cannot be \"MON#2\".",
        "0 0 * * MON#0  | \"#\" must be followed by a number from 1 to 5.",
        "0 0 * * MON#6  | \"#\" must be followed by a number from 1 to 5.",
        "0 0 * * MON#L  | write L, as in FRIL.",
        "0 0 * * #2     | The day of the week cannot be \"\".",
        "0 0 * * MON-FRIL | The day of the week cannot be",
        "0 0 12 * * ?   | Seconds are not supported; without them: \"0 12 * * ?\".",
        "0 0 12 ? * MON 2030 | Seconds and years are not supported; without both: \"0 12 ? * MON\".",
        "0 12 * * * 2030 | Years are not supported; use ends_at of the schedule, and write \"0 12 * * *\".",
        "0 12 * *       | The cron expression has 4 fields. Five fields are required: minute, hour,",
        "hello          | The cron expression has 1 field. Five fields are required:",
        "''             | The cron expression is empty. Five fields are required:",
        "@reboot        | \"@reboot\" is not known. A schedule can only run at times.",
        "@every 5m      | Write steps instead, for example */5 * * * *",
        "@fortnightly   | or one of @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly.",
      })
  void tellsWhatToWriteInstead(String expression, String part) {
    String message = assertThrows(CronException.class, () -> Cron.parse(expression)).getMessage();
    assertTrue(message.contains(part), message);
    assertTrue(message.length() < 400, message);
  }

  @Test
  void longTextsAreNotRepeated() {
    String nines = "9".repeat(400);
    String message =
        assertThrows(CronException.class, () -> Cron.parse(nines + " * * * *")).getMessage();
    assertTrue(message.startsWith("The minute cannot be \"" + "9".repeat(40) + "…\""), message);
    String stars = "* ".repeat(100_000);
    assertTrue(
        assertThrows(CronException.class, () -> Cron.parse(stars))
            .getMessage()
            .contains("the limit is 500"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"0 0 1,15,L,LW,3W,L-2 * *", "0 0 * * MON,TUEL,WED#1,4-6", "*/1 */1 */1 */1 */1"})
  void listsMayMixWhatThereIs(String expression) {
    assertEquals(expression, Cron.parse(" " + expression + " ").toString());
  }
}
