package dev.roost.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.db.Database;
import dev.roost.execution.ScheduledJobs.Submitted;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tickers on a real database, with a clock that stands where a test puts it. */
class TickerIT {
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
  private static final int ROOM = 10_000;

  private static TickerWorld world;

  private final List<Submitted> made = new CopyOnWriteArrayList<>();
  private volatile Instant now = NOON;

  @BeforeAll
  static void start() {
    world = new TickerWorld();
  }

  @AfterAll
  static void stop() {
    world.close();
  }

  @BeforeEach
  void empty() {
    world.execute("truncate schedule, executor_job, execution, event, agent cascade");
    world.agent("a");
  }

  private Ticker ticker(int room) {
    return world.ticker(connection -> now, room, made);
  }

  private Optional<Duration> tick() {
    return ticker(ROOM).tick();
  }

  @Test
  void aJobHasWhatTheScheduleSays() {
    world.schedule("s", "a", "* * * * *", NOON, "payload = '{\"x\": 1.10}'", "overlap = 'queue'");
    now = NOON.plusMillis(1);
    assertEquals(Optional.of(Duration.ofMillis(59_999)), tick());
    assertEquals(
        List.of("a 3 s 2026-11-22 12:00:00 {\"x\": 1.10} queued s"),
        world.rows(
            """
            select agent_id, agent_revision, schedule_id, scheduled_time at time zone 'UTC', payload, state,
              concurrency_key
            from executor_job"""));
    assertEquals(
        world.rows("select id from executor_job"),
        world.rows("select last_executor_job_id from schedule"));
    assertEquals(NOON.plusSeconds(60), world.next("s"));
    assertEquals(1, made.size());
    assertEquals(3, made.get(0).agentRevision());
    assertEquals(
        List.of("executor_job.queued"),
        world.rows("select type from event where type like 'exec%'"));
  }

  @Test
  void nothingIsPlannedWithoutSchedules() {
    assertEquals(Optional.empty(), tick());
    world.schedule("s", "a", "* * * * *", NOON, "due_at = null", "next_run_at = null");
    assertEquals(Optional.empty(), tick());
    assertEquals(List.of(), made);
  }

  @Test
  void tickersAtTheSameTimeMakeEachJobOnce() throws Exception {
    for (int i = 0; i < 500; i++) {
      world.schedule("s" + i, "a", "* * * * *", NOON, "missed_runs = 'run_all'");
    }
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      for (int minute = 0; minute < 10; minute++) {
        now = NOON.plusSeconds(60L * minute);
        Callable<Optional<Duration>> tick = () -> ticker(ROOM).tick();
        for (Future<Optional<Duration>> one : threads.invokeAll(List.of(tick, tick, tick, tick))) {
          one.get();
        }
      }
    } finally {
      threads.shutdown();
    }
    tick(); // What one ticker had locked while the others looked on.
    assertEquals(5_000, made.size());
    assertEquals(
        List.of("5000 5000"),
        world.rows(
            "select count(*), count(distinct schedule_id || scheduled_time) from executor_job"));
  }

  @Test
  void whatWasMissedIsMadeUpForByEachPolicyAndReportedWhereItIsNot() {
    Instant morning = NOON.minus(Duration.ofHours(3));
    world.schedule("skip", "a", "0 * * * *", morning, "missed_runs = 'skip'");
    world.schedule("once", "a", "0 * * * *", morning);
    world.schedule("all", "a", "0 * * * *", morning, "missed_runs = 'run_all'");
    world.schedule(
        "two", "a", "0 * * * *", morning, "missed_runs = 'run_all'", "missed_runs_limit = 2");
    now = NOON.plusSeconds(10);
    tick();
    assertEquals(List.of("12:00"), world.times("skip"));
    assertEquals(List.of("missed 09:00 11:00 3"), world.skipped("skip"));
    assertEquals(List.of("11:00", "12:00"), world.times("once"));
    assertEquals(List.of("missed 09:00 10:00 2"), world.skipped("once"));
    assertEquals(List.of("09:00", "10:00", "11:00", "12:00"), world.times("all"));
    assertEquals(List.of(), world.skipped("all"));
    assertEquals(List.of("10:00", "11:00", "12:00"), world.times("two"));
    assertEquals(List.of("missed 09:00 09:00 1"), world.skipped("two"));
  }

  @Test
  void manyMissedRunsOfManySchedulesAreSubmittedInSeveralTransactions() {
    for (int i = 0; i < 10; i++) {
      world.agent("a" + i);
      world.schedule(
          "s" + i,
          "a" + i,
          "* * * * *",
          NOON.minus(Duration.ofDays(30)),
          "missed_runs = 'run_all'",
          "missed_runs_limit = 1000");
    }
    tick();
    assertEquals(List.of("10020"), world.rows("select count(*) from executor_job"));
  }

  @Test
  void aScheduleThatMindsOpenJobsLeavesTimesOut() {
    world.schedule("s", "a", "* * * * *", NOON, "overlap = 'skip'");
    tick();
    now = NOON.plusSeconds(60);
    tick();
    assertEquals(List.of("12:00"), world.times("s"));
    assertEquals(List.of("overlap 12:01 12:01 1"), world.skipped("s"));
    world.execute("update executor_job set state = 'running'");
    now = NOON.plusSeconds(120);
    tick();
    world.execute("update executor_job set state = 'failed'");
    now = NOON.plusSeconds(180);
    tick();
    assertEquals(List.of("12:00", "12:03"), world.times("s"));
    assertEquals(List.of("overlap 12:01 12:01 1", "overlap 12:02 12:02 1"), world.skipped("s"));
  }

  @Test
  void withoutCapacityInTheQueueATimeWaitsUntilItIsMissed() {
    world.schedule("s1", "a", "*/5 * * * *", NOON, "missed_runs = 'skip'");
    world.schedule("s2", "a", "*/5 * * * *", NOON, "missed_runs = 'run_once'");
    world.agent("b");
    world.schedule("s3", "b", "*/5 * * * *", NOON);
    world.execute(
        """
        insert into executor_job (id, agent_id, agent_revision, state, created_at)
        values ('j1', 'a', 3, 'queued', now()), ('j2', 'a', 3, 'queued', now())""");
    ticker(2).tick();
    assertEquals(List.of(), world.times("s1"));
    assertEquals(List.of("12:00"), world.times("s3"), "another agent has a queue of its own");
    now = NOON.plusSeconds(30);
    world.execute("update executor_job set state = 'running' where id = 'j1'");
    ticker(2).tick();
    assertEquals(List.of("12:00"), world.times("s1"));
    assertEquals(List.of(), world.times("s2"), "there was room for one");
    assertEquals(NOON, world.next("s2"));
    now = NOON.plusSeconds(61);
    ticker(2).tick();
    assertEquals(NOON, world.next("s2"), "it is to be made up for as soon as there is room");
    ticker(3).tick();
    assertEquals(List.of("12:00"), world.times("s2"));
    assertEquals(List.of(), world.skipped("s2"));
  }

  @Test
  void withoutCapacityForTooLongATimeIsSkippedWhereThatIsThePolicy() {
    world.schedule("s", "a", "* * * * *", NOON, "missed_runs = 'skip'");
    ticker(0).tick();
    now = NOON.plusSeconds(60);
    ticker(0).tick();
    assertEquals(NOON, world.next("s"));
    now = NOON.plusSeconds(61);
    ticker(0).tick();
    assertEquals(List.of("missed 12:00 12:00 1"), world.skipped("s"));
    ticker(1).tick();
    assertEquals(List.of("12:01"), world.times("s"));
  }

  @Test
  void schedulesThatStayDueDoNotKeepOthersFromTheirTurn() {
    for (int i = 0; i < 450; i++) {
      world.schedule("full" + i, "a", "0 12 * * *", NOON.minusSeconds(50));
    }
    world.agent("b");
    world.schedule("s", "b", "* * * * *", NOON);
    assertTrue(ticker(10).tick().isPresent());
    assertEquals(
        List.of("10"), world.rows("select count(*) from executor_job where agent_id = 'a'"));
    assertEquals(List.of("12:00"), world.times("s"));
  }

  @Test
  void aTimeThatHasItsJobGetsNoOtherWhenTheClockStepsBack() {
    world.schedule("s", "a", "* * * * *", NOON);
    tick();
    world.execute("update schedule set next_run_at = '%s', due_at = '%s'".formatted(NOON, NOON));
    now = NOON.plusSeconds(1);
    tick();
    assertEquals(List.of("12:00"), world.times("s"));
    assertEquals(1, made.size());
    assertEquals(NOON.plusSeconds(60), world.next("s"));
  }

  @Test
  void aDeletedAgentGetsNoJobs() {
    world.schedule("s", "a", "* * * * *", NOON);
    world.execute("update agent set deleted_at = now()");
    tick();
    assertEquals(List.of(), made);
    assertEquals(List.of("0"), world.rows("select count(*) from executor_job"));
  }

  @Test
  void aScheduleThatCantBeUnderstoodHoldsNobodyUp() {
    world.schedule("bad", "a", "what", NOON);
    world.schedule("good", "a", "* * * * *", NOON);
    tick();
    assertEquals(List.of("12:00"), world.times("good"));
    assertEquals(
        List.of("60"),
        world.rows(
            "select extract(epoch from due_at - next_run_at)::int from schedule where id = 'bad'"));
    world.execute("update schedule set cron = '* * * * *' where id = 'bad'");
    now = NOON.plusSeconds(60);
    tick();
    assertEquals(List.of("12:00", "12:01"), world.times("bad"));
  }

  @Test
  void aTickThatFailsHasDoneNothingAndTheNextOneDoesIt() {
    world.schedule("s", "a", "* * * * *", NOON, "missed_runs = 'run_all'");
    world.execute(
        """
        create function refuse() returns trigger language plpgsql as $$
        begin raise exception 'no'; end $$;
        create trigger refuse before update on schedule for each row execute function refuse()""");
    try {
      assertThrows(Database.Failure.class, this::tick);
      assertEquals(List.of(), world.times("s"));
      assertEquals(List.of(), made);
    } finally {
      world.execute("drop function refuse cascade");
    }
    now = NOON.plusSeconds(300);
    tick();
    assertEquals(List.of("12:00", "12:01", "12:02", "12:03", "12:04", "12:05"), world.times("s"));
  }

  @Test
  void jitterPutsAJobOffAndKeepsItsScheduledTime() {
    world.schedule("s", "a", "0 * * * *", NOON, "jitter_seconds = 600");
    Timetable timetable =
        new Timetable("s", Cron.parse("0 * * * *"), java.time.ZoneOffset.UTC, null, null, 600);
    Instant due = timetable.dueAt(NOON);
    world.execute("update schedule set due_at = '%s'".formatted(due));
    now = due.minusMillis(1);
    tick();
    assertEquals(List.of(), world.times("s"));
    now = due;
    tick();
    assertEquals(List.of("12:00"), world.times("s"));
    List<String> expected =
        List.of(TickerWorld.text(timetable.dueAt(NOON.plus(Duration.ofHours(1)))));
    List<String> found = new ArrayList<>(world.rows("select rfc3339(due_at) from schedule"));
    assertEquals(expected, found);
  }
}
