package dev.roost.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class TraceParentTest {
  private static final String VALID = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  @Test
  void aHeaderIsReadAndWritten() {
    TraceParent read = TraceParent.parse(VALID).orElseThrow();
    assertEquals(new TraceParent("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", 1), read);
    assertEquals(VALID, read.text());
    // A later version may have more, and is read as far as it is known.
    assertEquals(Optional.of(read), TraceParent.parse("01" + VALID.substring(2) + "-more"));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(
      strings = {
        "",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473\u0660-00f067aa0ba902b7-01"
      })
  void whatIsNoneIsNotRead(String header) {
    assertEquals(Optional.empty(), TraceParent.parse(header));
  }

  @Test
  void identifiersFollowFromTheJobAndTheExecution() {
    assertEquals(TraceParent.traceIdOf("xjob_1"), TraceParent.traceIdOf("xjob_1"));
    assertEquals(32, TraceParent.traceIdOf("xjob_1").length());
    assertEquals(16, TraceParent.spanIdOf("exec_1").length());
    assertNotEquals(TraceParent.spanIdOf("exec_1"), TraceParent.spanIdOf("exec_2"));
  }
}
