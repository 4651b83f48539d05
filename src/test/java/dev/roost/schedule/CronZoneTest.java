package dev.roost.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens when clocks are changed. */
class CronZoneTest {
  private static final DateTimeFormatter MINUTE = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm");
  private static final DateTimeFormatter WITH_OFFSET =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mmxxx");

  /** Rows of four cells whose first is a time zone. */
  static List<String[]> documented() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("docs/cron.md"))) {
      return lines
          .filter(line -> line.matches("\\| [A-Z]\\w+/\\w+ \\|.*"))
          .map(line -> line.substring(2, line.length() - 2).split(" \\| "))
          .toList();
    }
  }

  @Test
  void fiveZonesAndMoreAreDocumented() throws IOException {
    assertTrue(documented().stream().map(cells -> cells[0]).distinct().count() >= 5);
  }

  @ParameterizedTest
  @MethodSource("documented")
  void theDocumentedTimesAreTrue(String name, String code, String after, String times) {
    ZoneId zone = ZoneId.of(name);
    Cron cron = Cron.parse(code.replace("`", ""));
    Instant time = LocalDateTime.parse(after, MINUTE).atZone(zone).toInstant();
    List<String> found = new ArrayList<>();
    for (int i = 0; i < times.split(", ").length; i++) {
      time = cron.next(time, zone).orElseThrow();
      found.add(WITH_OFFSET.format(time.atZone(zone)));
    }
    assertEquals(times, String.join(", ", found));
  }

  @ParameterizedTest
  @CsvSource({
    // Asked within the hour that comes twice: what was once is over.
    "30 2 * * *, 2026-10-25T00:29:00Z, 2026-10-25T00:30:00Z",
    "30 2 * * *, 2026-10-25T00:30:00Z, 2026-10-26T01:30:00Z",
    "30 2 * * *, 2026-10-25T01:10:00Z, 2026-10-26T01:30:00Z",
    "10-50 2 * * *, 2026-10-25T01:10:00Z, 2026-10-26T01:10:00Z",
    "0 3 * * *, 2026-10-25T01:10:00Z, 2026-10-25T02:00:00Z",
    // A star follows the clock.
    "*/30 2 * * *, 2026-10-25T00:30:00Z, 2026-10-25T01:00:00Z",
    "30 * * * *, 2026-10-25T00:30:00Z, 2026-10-25T01:30:00Z",
    // At and around the gap.
    "30 2 * * *, 2026-03-29T00:59:59.999Z, 2026-03-29T01:00:00Z",
    "30 2 * * *, 2026-03-29T01:00:00Z, 2026-03-30T00:30:00Z",
    "'0,30 2,3 * * *', 2026-03-29T00:00:00Z, 2026-03-29T01:00:00Z",
    "'0,30 2,3 * * *', 2026-03-29T01:00:00Z, 2026-03-29T01:30:00Z",
    "* * * * *, 2026-03-29T00:59:00Z, 2026-03-29T01:00:00Z",
    "30 2 29 3 *, 2026-03-01T00:00:00Z, 2026-03-29T01:00:00Z",
    "*/30 2 29 3 *, 2026-03-01T00:00:00Z, 2027-03-29T00:00:00Z",
  })
  void inBerlin(String expression, Instant after, Instant expected) {
    assertEquals(
        expected, Cron.parse(expression).next(after, ZoneId.of("Europe/Berlin")).orElseThrow());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Europe/Berlin",
        "America/New_York",
        "America/Santiago",
        "America/St_Johns",
        "Australia/Lord_Howe",
        "Africa/Cairo",
        "Africa/Casablanca",
        "Asia/Kathmandu",
        "Pacific/Apia"
      })
  void aFixedTimeComesOnceForEachDayOfTheCalendar(String name) {
    ZoneId zone = ZoneId.of(name);
    Random random = new Random(name.hashCode());
    for (int i = 0; i < 30; i++) {
      Cron cron = Cron.parse("%d %d * * *".formatted(random.nextInt(60), random.nextInt(24)));
      LocalDateTime start = LocalDateTime.of(2010, 1, 1, 0, 0);
      Instant time = start.toInstant(ZoneOffset.UTC).minus(Duration.ofDays(1));
      Instant end = time.plus(Duration.ofDays(1000));
      int runs = 0;
      for (time = cron.next(time, zone).orElseThrow();
          time.isBefore(end);
          time = cron.next(time, zone).orElseThrow()) {
        runs++;
      }
      assertTrue(runs >= 999 && runs <= 1001, runs + " runs of " + cron + " in " + name);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"})
  void everyMinuteIsEveryMinute(String name) {
    ZoneId zone = ZoneId.of(name);
    Cron cron = Cron.parse("* * * * *");
    Instant time = Instant.parse("2011-10-20T00:00:00Z");
    Instant end = Instant.parse("2012-01-05T00:00:00Z"); // with a change in each of them
    while (time.isBefore(end)) {
      Instant next = cron.next(time, zone).orElseThrow();
      assertEquals(time.plusSeconds(60), next);
      time = next;
    }
  }

  @Test
  void anyInstantBetweenTwoRunsGivesTheSecond() {
    for (String text : List.of("*/20 1,2,3 * * *", "15,45 1-3 * * *", "0 0 * * *")) {
      Cron cron = Cron.parse(text);
      for (String name : List.of("Europe/Berlin", "Australia/Lord_Howe", "America/Santiago")) {
        ZoneId zone = ZoneId.of(name);
        Instant time = Instant.parse("2026-04-03T00:00:00Z");
        Instant next = cron.next(time, zone).orElseThrow();
        for (int minute = 0; minute < 5 * 1440; minute++, time = time.plusSeconds(60)) {
          if (!time.isBefore(next)) {
            next = cron.next(next, zone).orElseThrow();
          }
          assertEquals(next, cron.next(time, zone).orElseThrow(), text + " in " + name);
        }
      }
    }
  }

  @Test
  void zonesOnceHadOddSeconds() {
    ZoneId zone = ZoneId.of("Africa/Monrovia"); // until 1972 44 minutes and 30 seconds behind UTC
    Instant after = Instant.parse("1972-01-06T12:00:00Z");
    assertEquals(
        Instant.parse("1972-01-07T00:45:00Z"),
        Cron.parse("30 0 * * *").next(after, zone).orElseThrow());
    String shown =
        Stream.iterate(
                Instant.parse("1972-01-07T00:40:00Z"),
                time -> Cron.parse("* * * * *").next(time, zone).orElseThrow())
            .skip(1)
            .limit(6)
            .map(Instant::toString)
            .collect(Collectors.joining(" "));
    assertEquals(
        "1972-01-07T00:40:30Z 1972-01-07T00:41:30Z 1972-01-07T00:42:30Z 1972-01-07T00:43:30Z"
            + " 1972-01-07T00:45:00Z 1972-01-07T00:46:00Z",
        shown);
  }
}
