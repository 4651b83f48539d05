package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.FollowerDatabase;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** For how long replicas of the earlier release may still read payloads. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class LargeValuesUpgradeIT {
  private static final Sql AGE =
      Sql.of(
          """
          update flyway_schema_history set installed_on = localtimestamp - cast(:age as interval)
            - case when version = '39' then interval '0' else cast(:before as interval) end""");

  @Inject Database database;

  private boolean isUpgrading(String age, String before) {
    return database.once(
        connection -> {
          connection.setAutoCommit(false);
          try {
            AGE.with("age", age).with("before", before).update(connection);
            return LargeValues.IS_UPGRADING.with().first(connection, row -> true).isPresent();
          } finally {
            connection.rollback();
            connection.setAutoCommit(true);
          }
        });
  }

  @Test
  void aNewDatabaseHasNoEarlierReplicas() {
    assertEquals(false, isUpgrading("0 seconds", "10 seconds"));
  }

  @Test
  void anOlderOneMayHaveThemForAQuarterOfAnHour() {
    assertEquals(true, isUpgrading("0 seconds", "1 day"));
    assertEquals(true, isUpgrading("14 minutes", "1 day"));
    assertEquals(false, isUpgrading("16 minutes", "1 day"));
  }
}
