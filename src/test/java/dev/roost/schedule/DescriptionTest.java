package dev.roost.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Expressions in words. */
class DescriptionTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "* * * * *          | Every minute",
        "*/15 * * * *       | Every 15 minutes",
        "0-59/5 0-23 * * *  | Every 5 minutes",
        "*/7 * * * *        | Every 7 minutes from minute 0 through 56 of every hour",
        "5/15 * * * *       | Every 15 minutes from minute 5 through 50 of every hour",
        "30-45 * * * *      | At minutes 30 through 45 of every hour",
        "5,10,45 * * * *    | At minutes 5, 10 and 45 of every hour",
        "30 * * * *         | At minute 30 of every hour",
        "0 * * * *          | Every hour",
        "0 */2 * * *        | Every 2 hours",
        "0 1/2 * * *        | Every 2 hours from 01:00 through 23:00",
        "30 */2 * * *       | Every 2 hours from 00:30 through 22:30",
        "0 */5 * * *        | Every 5 hours from 00:00 through 20:00",
        "0 9-17 * * 1-5     | Every hour from 09:00 through 17:00 on Monday to Friday",
        "*/10 9-17 * * *    | Every 10 minutes from 09:00 through 17:50",
        "5/10 9-17 * * *    | Every 10 minutes from 09:05 through 17:55",
        "* 9 * * *          | Every minute from 09:00 through 09:59",
        "10-20 9 * * *      | Every minute from 09:10 through 09:20",
        "*/20 9 * * *       | Every 20 minutes from 09:00 through 09:40",
        "* 9,17 * * *       | Every minute of the hours 9 and 17",
        "*/20 */2 * * *     | Every 20 minutes of every 2nd hour from 0 through 22",
        "1,2,4 8-18 * * *   | At minutes 1, 2 and 4 of the hours 8 through 18",
        "*/25 8,9,12 * * *  | Every 25 minutes from minute 0 through 50 of the hours 8, 9 and 12",
        "0 9 * * *          | At 09:00 every day",
        "0 9 * * MON-FRI    | At 09:00 on Monday to Friday",
        "0,30 9,17 * * *    | At 09:00, 09:30, 17:00 and 17:30 every day",
        "1,2,30 9 * * *     | At 09:01, 09:02 and 09:30 every day",
        "0 1,2,4,8 * * *    | At 01:00, 02:00, 04:00 and 08:00 every day",
        "0 0 * * 1,3,5      | At 00:00 on Monday, Wednesday and Friday",
        "0 0 * * 6,0        | At 00:00 on Saturday and Sunday",
        "0 0 * * SUN-THU    | At 00:00 on Sunday to Thursday",
        "0 0 * * SAT,SUN,MON | At 00:00 on Saturday to Monday",
        "0 0 1 * *          | At 00:00 on the 1st of the month",
        "0 0 1,15,22 * *    | At 00:00 on the 1st, 15th and 22nd of the month",
        "0 0 2,3,11,12,13,21,23,31 * * | At 00:00 on the 2nd, 3rd, 11th, 12th, 13th, 21st, 23rd and 31st of the month",
        "0 0 1-7 * *        | At 00:00 on the 1st through the 7th of the month",
        "0 0 */2 * *        | At 00:00 on every 2nd day from the 1st through the 31st of the month",
        "0 0 L * *          | At 00:00 on the last day of the month",
        "0 0 L-1 * *        | At 00:00 on the day before the last day of the month",
        "0 0 L-3 * *        | At 00:00 on the day 3 days before the last day of the month",
        "0 0 15W * *        | At 00:00 on the weekday nearest to the 15th of the month",
        "0 0 LW * *         | At 00:00 on the last weekday of the month",
        "0 0 1,L * *        | At 00:00 on the 1st of the month and on the last day of the month",
        "0 0 * * MON#2      | At 00:00 on the second Monday of the month",
        "0 0 * * MON#1,MON#3 | At 00:00 on the first and third Monday of the month",
        "0 0 * * FRIL       | At 00:00 on the last Friday of the month",
        "0 0 * * WED,FRI#1  | At 00:00 on Wednesday and on the first Friday of the month",
        "0 0 13 * FRI       | At 00:00 on the 13th of the month, and also on Friday",
        "0 0 */10 * FRI     | At 00:00 on Friday, but only when that falls on every 10th day from the 1st through the 31st of the month",
        "0 0 1-31 * FRI     | At 00:00 every day",
        "0 0 1 1 *          | At 00:00 on the 1st of January",
        "0 0 * 6-8 *        | At 00:00 every day in June to August",
        "0 0 * 1,7 MON      | At 00:00 on Monday in January and July",
        "0 0 1 */3 *        | At 00:00 on the 1st of January, April, July and October",
        "*/5 * * DEC *      | Every 5 minutes in December",
        "0 0 13 5 FRI       | At 00:00 on the 13th of May, and also on Friday in May",
        "@hourly            | Every hour",
        "@weekly            | At 00:00 on Sunday",
      })
  void tellsWhenItComesTrue(String expression, String words) {
    assertEquals(words, Cron.parse(expression).description());
  }

  /** Rows of two cells whose first is an expression. */
  static List<String[]> documented() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("docs/cron.md"))) {
      return lines
          .filter(line -> line.matches("\\| `[^`]+` \\| (At|Every) [^|]*\\|"))
          .map(line -> line.substring(3, line.length() - 2).split("` \\| "))
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("documented")
  void theDocumentedWordsAreTrue(String expression, String words) {
    assertEquals(words, Cron.parse(expression).description());
  }

  /** So nothing that counts is left out. */
  @Test
  void thatWhichComesTrueAtOtherTimesHasOtherWords() {
    Random random = new Random(20251);
    Map<String, Cron> byWords = new HashMap<>();
    int again = 0;
    for (int i = 0; i < 60_000; i++) {
      Cron cron = Cron.parse(random(random));
      Cron other = byWords.putIfAbsent(cron.description(), cron);
      if (other != null && !other.toString().equals(cron.toString())) {
        again++;
        assertEquals(
            times(other), times(cron), () -> other + " and " + cron + ": " + cron.description());
      }
    }
    assertTrue(again > 5000, again + " had words that another one had");
  }

  private static String random(Random random) {
    String[][] fields = {
      {
        "0",
        "5",
        "0,30",
        "*/15",
        "*/20",
        "*/25",
        "5/15",
        "0-59",
        "*",
        "10-12",
        "10,11,12",
        "1,2,7",
        "0-50/10"
      },
      {
        "0", "9", "*", "0-23", "9-17", "9-17/2", "*/2", "*/6", "0,12", "1,2,7", "9,10,11", "0/6",
        "23"
      },
      {
        "*", "1", "13", "1-31", "1-7", "*/2", "1-31/2", "L", "L-1", "LW", "15W", "1,L", "L-1,L",
        "1,2"
      },
      {"*", "1", "6-8", "6,7,8", "*/3", "1-12", "1-10/3", "2,3"},
      {
        "*",
        "1",
        "MON-FRI",
        "1,2,3,4,5",
        "0-6",
        "SUN",
        "FRI-SUN",
        "MON#1",
        "MON#1,MON#3",
        "FRIL",
        "*/2",
        "5-7,0",
        "1,MON#2",
        "FRIL,FRI#5"
      },
    };
    List<String> chosen = new ArrayList<>();
    for (String[] field : fields) {
      chosen.add(field[random.nextInt(field.length)]);
    }
    return String.join(" ", chosen);
  }

  /** Whole days, far enough to meet each month and each kind of day. */
  private static List<Instant> times(Cron cron) {
    List<Instant> times = new ArrayList<>();
    Instant time = Instant.parse("2024-02-26T12:34:00Z");
    for (int i = 0; i < 60; i++) {
      time = cron.next(time, ZoneOffset.UTC).orElseThrow();
      times.add(time);
      // Near ones to compare the minutes, and then the days.
      time = i % 6 == 5 ? time.plusSeconds(86400L * (i / 6 * 5 + 1)) : time;
    }
    return times;
  }
}
