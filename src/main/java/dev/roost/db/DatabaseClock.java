package dev.roost.db;

import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.time.Instant;

/**
 * The clock of the database, which all replicas share, for times that one replica writes and
 * another compares.
 */
@ApplicationScoped
public class DatabaseClock {
  private static final Sql NOW = Sql.of("select now() as now");

  private final EntityManager entities;

  DatabaseClock(EntityManager entities) {
    this.entities = entities;
  }

  public Instant now() {
    return QuarkusTransaction.requiringNew()
        .call(() -> NOW.with().first(entities, row -> Sql.instant(row, "now")).orElseThrow());
  }
}
