package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.SQLException;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DatabaseRefusalsTest {
  @ParameterizedTest
  @CsvSource({
    "23505, CONFLICT",
    "23503, CONFLICT",
    "53100, UNAVAILABLE",
    "53200, UNAVAILABLE",
    "58030, UNAVAILABLE",
    "22021, VALIDATION_FAILED",
    "22P05, VALIDATION_FAILED",
    "22008, VALIDATION_FAILED",
    "22003, VALIDATION_FAILED"
  })
  void whatTheDatabaseRefusesHasItsCode(String state, ErrorCode code) {
    SQLException refusal = new SQLException("ERROR", state);
    Problem problem = DatabaseRefusals.of(new IllegalStateException(refusal)).orElseThrow();
    assertEquals(code, problem.code());
    assertEquals(code == ErrorCode.UNAVAILABLE, problem.headers().containsKey("Retry-After"));
    assertEquals(code, ProblemMappers.problem(refusal, "req_1").code());
  }

  /** The transaction manager says what the database said beside its own exception. */
  @Test
  void aCommitThatWasRefusedIsFoundBesideItsException() {
    IllegalStateException commit = new IllegalStateException("could not commit");
    commit.addSuppressed(new IllegalStateException(new SQLException("ERROR", "53100")));
    Problem problem = DatabaseRefusals.of(new RuntimeException(commit)).orElseThrow();
    assertTrue(problem.getMessage().contains("disk of the database is full"), problem.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"42601", "42P01", "23502", "23514", "XX000"})
  void whatIsAFaultOfRoostsStaysOne(String state) {
    SQLException fault = new SQLException("ERROR", state);
    assertEquals(Optional.empty(), DatabaseRefusals.of(fault));
    assertEquals(ErrorCode.INTERNAL, ProblemMappers.problem(fault, "req_1").code());
  }
}
