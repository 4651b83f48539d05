package dev.roost.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.roost.TestDatabase;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

/** Statements that PostgreSQL ends, with the states that it ends them with. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class DeadlockIT {
  private static final String DEADLOCK = "40P01";

  @Inject Database database;

  private int runs;

  /** Fails with that state as often, then answers. */
  private int answer(String state, int failures) {
    return database.withoutDeadlock(
        connection -> {
          runs++;
          if (runs <= failures) {
            try (Statement statement = connection.createStatement()) {
              statement.execute(
                  "do $$ begin raise exception 'ended' using errcode = '" + state + "'; end $$");
            }
          }
          return runs;
        });
  }

  @Test
  void aStatementThatADeadlockHasEndedRunsAgain() {
    assertEquals(3, answer(DEADLOCK, 2));
  }

  @Test
  void notMoreThanThreeTimes() {
    Database.Failure failure =
        assertThrows(Database.Failure.class, () -> answer(DEADLOCK, Integer.MAX_VALUE));
    assertEquals(DEADLOCK, failure.state());
    assertEquals(3, runs);
  }

  @Test
  void anotherFailureIsReportedAtOnce() {
    Database.Failure failure = assertThrows(Database.Failure.class, () -> answer("23503", 1));
    assertEquals("23503", ((SQLException) failure.getCause()).getSQLState());
    assertEquals(1, runs);
  }
}
