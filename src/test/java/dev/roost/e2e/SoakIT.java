package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random kills under a steady stream of executions, then the books are balanced. */
@Tag("soak")
@LocalOnly("it kills processes of this machine")
class SoakIT {
  private static final int KILLS = Integer.getInteger("soak.kills", 200);
  private static final long SEED = Long.getLong("soak.seed", 1);
  private static final int AGENTS = 3;
  private static final int JOBS_BETWEEN_KILLS = 6;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final Random random = new Random(SEED);

  @Test
  void nothingAcknowledgedIsLostWhateverIsKilled() throws Exception {
    try (RoostProcess roost =
        RoostProcess.started("ROOST_LOCAL_MAX_EXECUTORS", "12", "ROOST_EXECUTORS_POOL", "3")) {
      SteadyJobs jobs = new SteadyJobs(roost.client(), AGENTS, 0.01, LIMIT);
      for (int i = 0; i < KILLS; i++) {
        jobs.awaitMore(JOBS_BETWEEN_KILLS);
        killSomething(roost, jobs);
      }
      jobs.settle();
      roost.terminate();
      jobs.count("processes left", roost.processes().size());
      System.out.println("Soak (seed " + SEED + "): " + jobs);
      jobs.assertBalanced();
      assertEquals(List.of(), roost.processes());
    }
  }

  private void killSomething(RoostProcess roost, SteadyJobs jobs) {
    switch (random.nextInt(6)) {
      case 0 -> {
        jobs.count("killed control planes", 1);
        roost.kill9();
        roost.start();
      }
      case 1 -> {
        Machine.Running postmaster = Eventually.value("PostgreSQL runs", roost::findPostmaster);
        jobs.count("killed databases", 1);
        postmaster.signal("KILL");
      }
      case 2 -> killOne("runners", roost.runners(), jobs);
      case 3 -> killOne("templates", Machine.templates(roost.runnersAndForks()), jobs);
      case 4 -> jobs.count("killed executors of pools", roost.workers().killPooled());
      default -> killOne("sidecars", roost.sidecars(), jobs);
    }
  }

  private void killOne(String kind, List<Machine.Running> choices, SteadyJobs jobs) {
    if (!choices.isEmpty()) {
      jobs.count("killed " + kind, 1);
      choices.get(random.nextInt(choices.size())).signal("KILL");
    }
  }
}
