package dev.roost.schedule;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;

/**
 * Answers the comparison in {@code src/test/python/cron}: each line of the input is an expression,
 * a time zone, an instant and a count, with tabs between them. Each line of the output is the
 * words, then as many times after the instant, each with the offset of the zone; or {@code !} and
 * what is wrong.
 */
public final class CronAnswers {
  private CronAnswers() {}

  public static void main(String[] arguments) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] parts = line.split("\t");
        out.println(
            answer(
                parts[0],
                ZoneId.of(parts[1]),
                Instant.parse(parts[2]),
                Integer.parseInt(parts[3])));
      }
    }
  }

  private static String answer(String expression, ZoneId zone, Instant after, int count) {
    StringBuilder answer = new StringBuilder();
    try {
      Cron cron = Cron.parse(expression);
      answer.append(cron.description());
      Optional<Instant> next = cron.next(after, zone);
      for (int i = 0; i < count && next.isPresent(); i++) {
        answer.append('\t').append(next.get().atZone(zone).toOffsetDateTime());
        next = cron.next(next.get(), zone);
      }
    } catch (CronException e) {
      return "!" + e.getMessage();
    }
    return answer.toString();
  }
}
