package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.roost.TestDatabase;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Status;
import jakarta.transaction.TransactionSynchronizationRegistry;
import org.junit.jupiter.api.Test;

/** What a caller hears when the machine is so far behind that a transaction reaches its limit. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class LateTransactionIT {
  private static final int LIMIT_SECONDS = 1;

  @Inject EntityManager entities;
  @Inject TransactionSynchronizationRegistry transaction;

  @Test
  void aReadThatWasDoneWhenTheTransactionEndedIsToBeRepeated() {
    assertToBeRepeated(
        () -> {
          read();
          awaitTheLimit();
        });
  }

  @Test
  void aReadAfterTheTransactionEndedIsToBeRepeated() {
    assertToBeRepeated(
        () -> {
          read();
          awaitTheLimit();
          read();
        });
  }

  private void assertToBeRepeated(Runnable work) {
    Throwable thrown =
        assertThrows(
            Throwable.class,
            () -> QuarkusTransaction.requiringNew().timeout(LIMIT_SECONDS).run(work));
    Problem problem = ProblemMappers.problem(thrown, "req_1");
    assertEquals(503, problem.code().status(), () -> thrown.toString());
    assertEquals(true, problem.headers().containsKey("Retry-After"));
  }

  private void read() {
    entities.createNativeQuery("select 1").getSingleResult();
  }

  /** The limit of one second is looked at by a thread of the transaction manager's. */
  private void awaitTheLimit() {
    while (transaction.getTransactionStatus() == Status.STATUS_ACTIVE) {
      try {
        Thread.sleep(50);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
