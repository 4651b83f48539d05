package dev.roost.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import dev.roost.db.Database;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Schedules of every minute, tickers and a database that are killed again and again, and nobody who
 * runs the jobs but a hand that marks them as done. Afterwards, the rows tell whether each
 * scheduled time became what its policy says.
 */
final class Simulation implements AutoCloseable {
  private static final Instant BASE = Instant.parse("2026-11-22T12:00:00Z");
  private static final int TICKERS = 3;
  private static final int AGENTS = 10;

  /** Of the things that are killed, each so many-th is the database. */
  private static final int DATABASE_TURN = 4;

  private final TickerWorld world = new TickerWorld();
  private final List<TickerProcess> tickers = new ArrayList<>();
  private final int schedules;
  private final int minutes;
  private final SimulatedClock clock;
  private final Duration betweenKills;
  private final Random random;
  private final int room;
  private long nextKill;
  private int tickersKilled;
  private int databaseKilled;

  /**
   * @param minutes simulated; each schedule has so many times
   * @param factor simulated seconds in a real one
   * @param betweenKills on average, real time
   */
  Simulation(int schedules, int minutes, double factor, Duration betweenKills, long seed) {
    this.schedules = schedules;
    this.minutes = minutes;
    this.clock = new SimulatedClock(factor);
    this.betweenKills = betweenKills;
    this.random = new Random(seed);
    this.room = 3 * schedules / AGENTS;
  }

  void run() {
    for (int i = 0; i < AGENTS; i++) {
      world.agent("a" + i);
    }
    clock.make(world, BASE);
    makeSchedules();
    for (int i = 0; i < TICKERS; i++) {
      tickers.add(new TickerProcess(world.url(), clock.factor(), room, i));
      tickers.get(i).start();
    }
    Await.until("all tick", this::allTick);
    clock.start(world);
    work();
    tickers.forEach(TickerProcess::kill);
  }

  private void makeSchedules() {
    world.execute(
        """
        insert into schedule (id, agent_id, name, cron, time_zone, state, missed_runs, missed_runs_limit, overlap,
          jitter_seconds, starts_at, ends_at, next_run_at, due_at, created_at, updated_at)
        select 's' || i, 'a' || i %% %d, i, '* * * * *', 'UTC', 'active',
          (array['run_all', 'run_once', 'skip'])[1 + i %% 3], 1000,
          case when i %% 3 = 0 then (array['allow', 'queue'])[1 + i / 3 %% 2]
            else (array['allow', 'queue', 'skip'])[1 + i / 3 %% 3] end,
          case when i / 9 %% 2 = 0 then 0 else 45 end,
          first, last, first, first, now(), now()
        from generate_series(0, %d) i, (
          select timestamptz '%s' as first, timestamptz '%s' as last) t"""
            .formatted(
                AGENTS, schedules - 1, BASE.plusSeconds(60), BASE.plusSeconds(60L * minutes)));
  }

  private void work() {
    long begin = System.nanoTime();
    long limit = begin + (long) (minutes * 60e9 / clock.factor()) + Duration.ofMinutes(3).toNanos();
    nextKill = begin + pause();
    long restUntil = begin;
    while (!isOver()) {
      assertTrue(System.nanoTime() < limit, () -> "not over in time; left: " + left());
      if (!allTick()) {
        nextKill = System.nanoTime() + pause(); // On a busy machine, a start takes seconds.
      } else if (System.nanoTime() > nextKill) {
        killSomething();
      }
      if (random.nextInt(200) == 0) {
        // Nobody runs jobs for some minutes: queues fill up, and runs overlap.
        restUntil = System.nanoTime() + (long) (random.nextDouble() * 6 * 60e9 / clock.factor());
      }
      if (System.nanoTime() > restUntil) {
        finishSomeJobs();
      }
      LockSupport.parkNanos(20_000_000);
    }
    System.out.printf(
        "schedules: %,d scheduled times of %,d schedules in %.0f s (%.1f simulated hours);"
            + " submitted and skipped: %s; killed: %d tickers, %d times the database%n",
        (long) schedules * minutes,
        schedules,
        (System.nanoTime() - begin) / 1e9,
        minutes / 60.0,
        totals(),
        tickersKilled,
        databaseKilled);
  }

  private boolean allTick() {
    return tickers.stream().allMatch(TickerProcess::isTicking);
  }

  private long pause() {
    return (long) (betweenKills.toNanos() * (0.5 + random.nextDouble()));
  }

  private void killSomething() {
    if ((tickersKilled + databaseKilled + 1) % DATABASE_TURN == 0) {
      databaseKilled++;
      world.server().kill();
      world.server().startAgain();
      nextKill = System.nanoTime() + pause();
    } else {
      tickersKilled++;
      TickerProcess one = tickers.get(random.nextInt(TICKERS));
      assertTrue(one.isAlive(), "a ticker ended by itself: see target/ticker-*.log");
      one.kill();
      one.start();
    }
  }

  private boolean isOver() {
    return orElse(false, () -> left().equals("0"));
  }

  private String left() {
    return world.rows("select count(*) from schedule where next_run_at is not null").get(0);
  }

  private void finishSomeJobs() {
    orElse(
        null,
        () -> {
          List<String> overlapping =
              world.rows(
                  """
                  select j.schedule_id, count(*) from executor_job j join schedule s on s.id = j.schedule_id
                  where s.overlap = 'skip' and j.state in ('queued', 'running')
                  group by j.schedule_id having count(*) > 1""");
          assertEquals(List.of(), overlapping, "jobs that overlap");
          world.execute(
              """
              update executor_job set state = 'succeeded', finished_at = now() where id in (
                select id from executor_job where state = 'queued' and random() < 0.7 limit 3000)""");
          return null;
        });
  }

  private static <T> T orElse(T other, java.util.function.Supplier<T> source) {
    try {
      return source.get();
    } catch (Database.Failure e) {
      return other; // Its connections broke when the database was killed.
    }
  }

  private String totals() {
    return String.join(
        ", ",
        world.rows(
            """
            select missed_runs || ' ' || (
                select count(*) from executor_job j join schedule s on s.id = j.schedule_id
                where s.missed_runs = p.missed_runs) || ' + ' || coalesce((
                select sum((data::json ->> 'count')::int) from event e join schedule s on s.id = e.subject
                where e.type = 'schedule.skipped' and s.missed_runs = p.missed_runs), 0)
            from (values ('run_all'), ('run_once'), ('skip')) p (missed_runs)"""));
  }

  /** Balances the books. */
  void settle() {
    world.execute(
        """
        create table told as
        select subject as schedule_id, data::json ->> 'reason' as reason, (data::json ->> 'count')::int as count,
          (data::json ->> 'scheduled_time')::timestamptz as first,
          (data::json ->> 'last_scheduled_time')::timestamptz as last
        from event where type = 'schedule.skipped'""");
    world.execute(
        """
        create table outcome as
        select schedule_id, scheduled_time as time, 'submitted' as what from executor_job
        union all
        select schedule_id, generate_series(first, last, '1 minute'), reason from told""");
    none(
        "times that are not submitted or skipped just once",
        """
        select s.id, count(time), count(distinct time), min(time), max(time)
        from schedule s left join outcome o on o.schedule_id = s.id
        group by s.id
        having count(time) <> %1$d or count(distinct time) <> %1$d or min(time) <> s.starts_at
          or max(time) <> s.ends_at"""
            .formatted(minutes));
    none(
        "times of run_all that are not submitted",
        """
        select o.* from outcome o join schedule s on s.id = o.schedule_id
        where s.missed_runs = 'run_all' and o.what <> 'submitted'""");
    none(
        "wrong counts",
        "select * from told where count <> 1 + extract(epoch from last - first) / 60");
    none("jobs before their time", "select * from executor_job where created_at < scheduled_time");
    none("jobs of skip that were made too late", late("skip", 60));
    none("jobs of run_once that are not the latest missed one", late("run_once", 120));
    none(
        "schedules of run_once whose last time was not made up for",
        """
        select s.id from schedule s join outcome o on o.schedule_id = s.id and o.time = s.ends_at
        where s.missed_runs = 'run_once' and o.what = 'missed'""");
    none(
        "times left out for an overlap by schedules that allow it",
        """
        select o.* from outcome o join schedule s on s.id = o.schedule_id
        where s.overlap <> 'skip' and o.what = 'overlap'""");
    none(
        "jobs without the key of their queue",
        """
        select j.id from executor_job j join schedule s on s.id = j.schedule_id
        where j.concurrency_key is distinct from case when s.overlap = 'queue' then s.id end""");
    for (String reason : List.of("missed", "overlap")) {
      assertTrue(
          world.rows("select 1 from told where reason = '%s' limit 1".formatted(reason)).size()
              == 1,
          "the run has tried nothing: " + reason);
    }
  }

  private static String late(String missedRuns, int seconds) {
    return """
        select j.* from executor_job j join schedule s on s.id = j.schedule_id
        where s.missed_runs = '%s' and (s.missed_runs = 'skip' or j.scheduled_time < s.ends_at)
          and j.created_at > j.scheduled_time + (%d + s.jitter_seconds) * interval '1 s'"""
        .formatted(missedRuns, seconds);
  }

  private void none(String what, String query) {
    List<String> rows = world.rows("select * from (" + query + ") found limit 5");
    assertEquals(List.of(), rows, what);
  }

  @Override
  public void close() {
    tickers.forEach(TickerProcess::kill);
    world.close();
  }
}
