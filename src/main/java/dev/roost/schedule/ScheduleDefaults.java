package dev.roost.schedule;

/** What a new schedule has where the request says nothing. */
final class ScheduleDefaults {
  static final String TIME_ZONE = "UTC";
  static final String MISSED_RUNS = "run_once";
  static final int MISSED_RUNS_LIMIT = 100;
  static final String OVERLAP = "allow";

  private ScheduleDefaults() {}
}
