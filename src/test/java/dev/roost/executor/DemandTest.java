package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.state.BuilderJobState;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemandTest {
  @ParameterizedTest
  @CsvSource({
    // requests per process, max_concurrency, running, waiting, free, starting: missing
    "1, 10, 0, 3, 0, 0, 3",
    "1, 10, 0, 3, 1, 1, 1",
    "1, 10, 0, 30, 0, 0, 30",
    "5, 100, 0, 1, 0, 0, 1",
    "5, 100, 0, 5, 0, 0, 1",
    "5, 100, 0, 6, 0, 0, 2",
    "5, 100, 0, 6, 0, 1, 1",
    "5, 100, 3, 6, 2, 0, 1",
    "5, 100, 3, 2, 2, 0, 0",
    "5, 10, 8, 50, 0, 0, 1",
    "5, 10, 8, 50, 2, 0, 0",
    "5, 10, 10, 50, 0, 0, 0",
    // max_concurrency was lowered while more were running.
    "5, 3, 10, 50, 0, 0, 0",
    "5, 10, 0, 1, 5, 2, -2",
  })
  void executorsAreMissingForJobsWithoutAPlace(
      int requestsPerProcess,
      int maxConcurrency,
      int running,
      int waiting,
      int free,
      int starting,
      int missing) {
    Demand.Waiting group =
        new Demand.Waiting(
            new RevisionKey("agent_", 1),
            "name",
            waiting,
            "xjob_",
            starting,
            free,
            maxConcurrency,
            requestsPerProcess,
            running,
            256,
            0.5,
            "3.13",
            null,
            "all",
            "bjob_",
            BuilderJobState.SUCCEEDED,
            null,
            "build_",
            "key",
            "image",
            false);
    assertEquals(missing, group.missing(starting));
  }
}
