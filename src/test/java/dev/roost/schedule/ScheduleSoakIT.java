package dev.roost.schedule;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Hours of schedules in minutes, under random kills, then the books are balanced. System
 * properties: {@code schedule.seed}, {@code schedule.hours}, {@code schedule.factor}.
 */
class ScheduleSoakIT {
  private static final long SEED = Long.getLong("schedule.seed", 20261122);
  private static final int HOURS = Integer.getInteger("schedule.hours", 10);
  private static final int FACTOR = Integer.getInteger("schedule.factor", 60);

  @Test
  void eachScheduledTimeBecomesWhatItsPolicySaysWhateverIsKilled() {
    simulate(200, 60, 300, Duration.ofMillis(600));
  }

  @Test
  @Tag("soak")
  void hoursOfAThousandSchedulesLoseAndDoubleNothing() {
    simulate(1_000, 60 * HOURS, FACTOR, Duration.ofSeconds(5));
  }

  private static void simulate(int schedules, int minutes, double factor, Duration betweenKills) {
    try (Simulation simulation = new Simulation(schedules, minutes, factor, betweenKills, SEED)) {
      simulation.run();
      simulation.settle();
    }
  }
}
