package dev.roost.cluster;

import dev.roost.config.RoostConfig;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import javax.sql.DataSource;
import org.eclipse.microprofile.config.Config;

/** Decides whether other replicas can exist. */
class ReplicasProducer {
  @Produces
  @Singleton
  Replicas replicas(RoostConfig config, Config settings, Instance<DataSource> pool) {
    if (config.runtime().equals("local")) {
      return new OnlyReplica();
    }
    DatabaseSession.Database database =
        new DatabaseSession.Database(
            settings.getValue("quarkus.datasource.jdbc.url", String.class),
            settings.getOptionalValue("quarkus.datasource.username", String.class).orElse(null),
            settings.getOptionalValue("quarkus.datasource.password", String.class).orElse(null));
    return new DatabaseReplicas(database, pool.get());
  }
}
