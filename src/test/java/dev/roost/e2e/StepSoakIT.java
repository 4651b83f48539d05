package dev.roost.e2e;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Jobs with many steps under random kills, some at a time. System properties: {@code steps.kills},
 * {@code steps.seed}.
 */
@Tag("soak")
@EveryRuntime
class StepSoakIT {
  private static final int KILLS = Integer.getInteger("steps.kills", 100);
  private static final long SEED = Long.getLong("steps.seed", 1);
  private static final int AT_A_TIME = 6;
  private static final int EFFECTS_BETWEEN = 15;

  private static RoostProcess roost;

  @BeforeAll
  static void start() {
    roost = RoostProcess.started("ROOST_LOCAL_MAX_EXECUTORS", "20");
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  @Test
  void eachStoredResultHasHadItsEffectOnceWhateverIsKilled() {
    Client client = roost.client();
    StoreKills kills = new StoreKills(roost, SEED);
    try (Tally outside = new Tally()) {
      String agent =
          client.agent(
              StepEffects.SCRIPT,
              "max_attempts",
              10,
              "retry_delay",
              0,
              "max_concurrency",
              AT_A_TIME);
      List<String> jobs = new ArrayList<>();
      for (int kill = 0; kill < KILLS; kill++) {
        int enough = outside.told().size() + EFFECTS_BETWEEN;
        while (jobs.size() * StepEffects.EFFECTS < enough + AT_A_TIME * StepEffects.EFFECTS) {
          jobs.add(client.submit(agent, outside.address()));
        }
        Eventually.until("the jobs have gone on", () -> outside.told().size() >= enough);
        kills.killSomething();
        Eventually.until("it is back", () -> client.isReachable());
      }
      jobs.forEach(client::ended);
      Map<String, Long> effects = outside.counts();
      int attempts = 0;
      for (String job : jobs) {
        attempts += StepEffects.settle(client, job, effects, kills.toString());
      }
      StepEffects.assertLost(jobs.size(), attempts, effects);
      System.out.printf(
          "Steps (seed %d): %d jobs, %d attempts, %d effects; %s%n",
          SEED, jobs.size(), attempts, effects.size(), kills);
    }
  }
}
