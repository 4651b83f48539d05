package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PodLogTest {
  private final Kubelet kubelet = new Kubelet();
  private final PodLog log = new PodLog(kubelet::open);

  /** Answers as a kubelet does: whole lines from a second on, and whatever has been begun. */
  private static final class Kubelet {
    final List<String> lines = new ArrayList<>();
    String begun = "";
    boolean started = true;
    boolean breaks;

    void print(String time, String... texts) {
      for (String text : texts) {
        lines.add("2026-11-21T18:00:" + time + "Z " + text);
      }
    }

    InputStream open(Instant since) {
      if (!started) {
        return null;
      }
      assertEquals(since, since.truncatedTo(ChronoUnit.SECONDS), "the API takes whole seconds");
      StringBuilder text = new StringBuilder();
      for (String line : lines) {
        if (!line.startsWith("2026") || !time(line).isBefore(since)) {
          text.append(line).append('\n');
        }
      }
      InputStream all = new ByteArrayInputStream((text + begun).getBytes(StandardCharsets.UTF_8));
      return breaks ? new SequenceInputStream(all, new Broken()) : all;
    }

    private static Instant time(String line) {
      return Instant.parse(line.substring(0, line.indexOf(' ')));
    }
  }

  private static final class Broken extends InputStream {
    @Override
    public int read() throws IOException {
      throw new IOException("connection reset");
    }
  }

  @Test
  void everyLineComesOnceInOrder() throws IOException {
    kubelet.print("01.1", "a", "b");
    assertEquals(List.of("a", "b"), log.next(false));
    assertEquals(List.of(), log.next(false));
    kubelet.print("02.5", "c");
    assertEquals(List.of("c"), log.next(false));
    assertEquals(List.of(), log.next(true));
  }

  @Test
  void linesOfTheSameSecondAndTheSameTextAreNotTakenForOld() throws IOException {
    kubelet.print("01.000000001", "same", "same");
    assertEquals(List.of("same", "same"), log.next(false));
    kubelet.print("01.000000001", "same");
    kubelet.print("01.999999999", "same");
    assertEquals(List.of("same", "same"), log.next(false));
    kubelet.print("01.999999999", "last");
    kubelet.print("02", "next");
    assertEquals(List.of("last", "next"), log.next(false));
    assertEquals(List.of(), log.next(false));
  }

  @Test
  void aLineThatIsNotCompleteWaitsForItsEnd() throws IOException {
    kubelet.print("01", "a");
    kubelet.begun = "2026-11-21T18:00:01.5Z hal";
    assertEquals(List.of("a"), log.next(false));
    kubelet.begun = "";
    kubelet.print("01.5", "half and whole");
    assertEquals(List.of("half and whole"), log.next(false));
  }

  @Test
  void theLastLineOfAnEndedContainerNeedsNoNewline() throws IOException {
    kubelet.begun = "2026-11-21T18:00:01.5Z no newline";
    assertEquals(List.of(), log.next(false));
    assertEquals(List.of("no newline"), log.next(true));
  }

  @Test
  void aLineIsKeptAsItWasPrinted() throws IOException {
    kubelet.print("01", "", " indented", "10 %\r50 %\r100 %", "grün \ud83d\udc26 two  blanks ");
    assertEquals(
        List.of("", " indented", "10 %\r50 %\r100 %", "grün \ud83d\udc26 two  blanks "),
        log.next(false));
  }

  @Test
  void whatHasNotStartedHasPrintedNothing() throws IOException {
    kubelet.started = false;
    assertEquals(List.of(), log.next(false));
    kubelet.started = true;
    kubelet.print("01", "a");
    assertEquals(List.of("a"), log.next(false));
  }

  @Test
  void aClockThatIsSetBackLosesNoLine() throws IOException {
    kubelet.print("05", "a");
    kubelet.print("03", "b", "c");
    assertEquals(List.of("a", "b", "c"), log.next(false));
    kubelet.print("06", "d");
    assertEquals(List.of("d"), log.next(false));
  }

  @Test
  void whatTheKubeletItselfSaysIsALine() throws IOException {
    kubelet.print("01", "a");
    kubelet.lines.add("unexpected stream type");
    assertEquals(List.of("a", "stream type"), log.next(false));
    assertEquals(List.of(), log.next(false));
  }

  @Test
  void aConnectionThatBreaksLosesAndDoublesNothing() throws IOException {
    kubelet.print("01", "a", "b");
    assertEquals(List.of("a", "b"), log.next(false));
    kubelet.print("01", "c");
    kubelet.print("02", "d");
    kubelet.breaks = true;
    assertThrows(IOException.class, () -> log.next(false));
    kubelet.breaks = false;
    assertEquals(List.of("c", "d"), log.next(false));
    assertEquals(List.of(), log.next(false));
  }

  @Test
  void aLineOfAnyLengthTakesBoundedMemory() throws IOException {
    kubelet.print("01", "x".repeat(3_000_000), "short");
    List<String> lines = log.next(false);
    assertEquals(2, lines.size());
    assertTrue(lines.get(0).length() <= PodLog.MAX_LINE);
    assertTrue(lines.get(0).endsWith("…"));
    assertEquals("short", lines.get(1));
  }

  @Test
  void aLongOutputComesInParts() throws IOException {
    List<String> printed = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      printed.add(i + "x".repeat(60_000));
    }
    printed.forEach(line -> kubelet.print("01", line));
    List<String> found = new ArrayList<>();
    int calls = 0;
    do {
      List<String> part = log.next(true);
      assertTrue(part.size() < 100);
      found.addAll(part);
      calls++;
    } while (log.hasMore());
    assertEquals(printed, found);
    assertTrue(calls > 2);
    assertFalse(log.hasMore());
  }
}
