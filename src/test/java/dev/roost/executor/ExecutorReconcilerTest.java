package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.config.RoostConfig;
import dev.roost.db.Code;
import dev.roost.runtime.Observation;
import dev.roost.runtime.Shortage;
import dev.roost.runtime.Step;
import dev.roost.state.ExecutorState;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExecutorReconcilerTest {
  private record Settings(
      Duration lease,
      Duration grace,
      int pool,
      Duration startTimeout,
      Duration pendingTimeout,
      Duration lostAfter,
      Duration storeWait,
      Duration suspendAfter)
      implements RoostConfig.Executors {}

  private static final RoostConfig.Executors SETTINGS =
      new Settings(
          Duration.ofSeconds(30),
          Duration.ofSeconds(10),
          0,
          Duration.ofSeconds(60),
          Duration.ofSeconds(300),
          Duration.ofSeconds(120),
          Duration.ofSeconds(300),
          Duration.ofSeconds(10));

  private static final Instant NOW = Instant.parse("2026-11-21T18:00:00Z");

  /**
   * Every combination of state and observation at the times that matter: how old the executor is,
   * and how long ago its lease ran out (negative: it still runs), seconds each. A step without a
   * name is a Recover with that message.
   */
  @ParameterizedTest(name = "{0}, seen {1}, {2} s old, lease over for {3} s: {4}")
  @CsvSource(
      delimiter = '|',
      value = {
        "starting | absent  | 0    | -30 | create",
        "starting | absent  | 59   | 29  | create",
        "starting | absent  | 60   | 30  | It is gone.",
        "starting | absent  | 9999 | 999 | It is gone.",
        "starting | pending | 0    | -30 | wait",
        "starting | pending | 300  | 270 | wait",
        "starting | pending | 301  | 271 | runtime_unavailable: It did not start within 300 s.",
        "starting | waiting | 0    | -30 | wait",
        "starting | waiting | 300  | 270 | wait",
        "starting | waiting | 301  | 271 | unschedulable: no node has room",
        "starting | full    | 301  | 271 | wait",
        "starting | full    | 9999 | 999 | wait",
        "ready    | waiting | 9999 | 999 | It has not reported for 120 s.",
        "stopping | waiting | 9999 | 999 | It was asked to stop.",
        "starting | oom     | 1    | -30 | out_of_memory: It used too much.",
        "ready    | oom     | 1    | -30 | out_of_memory: It used too much.",
        "starting | running | 0    | -30 | wait",
        "starting | running | 59   | 29  | wait",
        "starting | running | 60   | 30  | It did not report within 60 s.",
        "starting | running | 9999 | 999 | It did not report within 60 s.",
        "starting | ended   | 0    | -30 | Its process ended.",
        "starting | ended   | 9999 | 999 | Its process ended.",
        "starting | broken  | 1    | -29 | Its runner ended with 1.",
        "ready    | broken  | 1    | -29 | wait",
        "stopping | broken  | 1    | -29 | wait",
        "ready    | absent  | 1    | -30 | It is gone.",
        "ready    | absent  | 9999 | 999 | It is gone.",
        "ready    | pending | 1    | -30 | wait",
        "ready    | pending | 9999 | 999 | It has not reported for 120 s.",
        "ready    | running | 1    | -30 | wait",
        "ready    | running | 9999 | -1  | wait",
        "ready    | running | 9999 | 1   | wait",
        "ready    | running | 9999 | 120 | wait",
        "ready    | running | 9999 | 121 | It has not reported for 120 s.",
        "ready    | ended   | 1    | -30 | Its process ended.",
        "ready    | ended   | 9999 | 999 | Its process ended.",
        "stopping | absent  | 1    | -30 | It is gone.",
        "stopping | absent  | 9999 | 999 | It is gone.",
        "stopping | pending | 1    | -30 | wait",
        "stopping | pending | 9999 | 999 | It was asked to stop.",
        "stopping | running | 1    | -30 | wait",
        "stopping | running | 9999 | 0   | wait",
        "stopping | running | 9999 | 1   | It was asked to stop.",
        "stopping | ended   | 1    | -30 | Its process ended.",
        "stopping | ended   | 9999 | 999 | Its process ended."
      })
  void everyCaseHasItsStep(
      String state, String observation, long age, long leaseOver, String expected) {
    Executor executor = executor(state, age, leaseOver);
    assertEquals(
        step(expected),
        ExecutorReconciler.decide(
            executor, seen(observation), true, SETTINGS, executor.createdAt, NOW));
  }

  /** A replica that was killed between the Job and its Secret has left an executor that waits. */
  @ParameterizedTest(name = "{0}, seen {1}, {2} s old: {3}")
  @CsvSource(
      delimiter = '|',
      value = {
        "starting | pending | 1   | create",
        "starting | waiting | 299 | create",
        "starting | waiting | 301 | unschedulable: no node has room",
        "starting | running | 1   | wait",
        "stopping | pending | 1   | wait",
        "ready    | pending | 1   | wait"
      })
  void whatAnotherProcessStartedIsMadeComplete(
      String state, String observation, long age, String expected) {
    Executor executor = executor(state, age, age - 30);
    assertEquals(
        step(expected),
        ExecutorReconciler.decide(
            executor, seen(observation), false, SETTINGS, executor.createdAt, NOW));
  }

  @Test
  void whatCouldNotBeStartedSaysWhy() {
    Executor executor = executor("starting", 60, 30);
    executor.message = "It could not be started: jobs is forbidden";
    assertEquals(
        new Step.Recover("runtime_unavailable", "It could not be started: jobs is forbidden"),
        ExecutorReconciler.decide(
            executor, new Observation.Absent(), true, SETTINGS, executor.createdAt, NOW));
  }

  @Test
  void whatIsRefusedForLackOfCapacityIsNotTriedAtEachLook() {
    Executor executor = executor("starting", 9999, 999);
    executor.lacksCapacity = true;
    Observation absent = new Observation.Absent();
    assertEquals(
        new Step.Wait(),
        ExecutorReconciler.decide(executor, absent, true, SETTINGS, executor.createdAt, NOW));
    assertEquals(
        new Step.Create(),
        ExecutorReconciler.decide(executor, absent, false, SETTINGS, executor.createdAt, NOW),
        "another process that takes over tries it");
  }

  @Test
  void theWaitForCapacityIsNoPartOfTheTimeToStart() {
    Executor executor = executor("starting", 9999, 999);
    Observation pulling = new Observation.Pending("image_pull_failed", "no answer");
    executor.hadCapacityAt = NOW.minusSeconds(300);
    assertEquals(
        new Step.Wait(),
        ExecutorReconciler.decide(executor, pulling, true, SETTINGS, executor.createdAt, NOW));
    executor.hadCapacityAt = NOW.minusSeconds(301);
    assertEquals(
        new Step.Recover("image_pull_failed", "no answer"),
        ExecutorReconciler.decide(executor, pulling, true, SETTINGS, executor.createdAt, NOW));
  }

  @Test
  void whatItWaitedBeforeIsNoPartOfTheTimeToReport() {
    Executor executor = executor("starting", 250, 220);
    Observation running = new Observation.Running(null);
    assertEquals(
        new Step.Wait(),
        ExecutorReconciler.decide(executor, running, true, SETTINGS, NOW.minusSeconds(59), NOW));
    assertEquals(
        new Step.Recover(null, "It did not report within 60 s."),
        ExecutorReconciler.decide(executor, running, true, SETTINGS, NOW.minusSeconds(60), NOW));
  }

  @Test
  void anExecutorThatCouldNotBeCreatedWhileTheRuntimeWasAwayIsCreatedWhenItIsBack() {
    Executor executor = executor("starting", 9999, 999);
    executor.message = "It could not be started: connection refused";
    assertEquals(
        new Step.Create(),
        ExecutorReconciler.decide(executor, new Observation.Absent(), false, SETTINGS, NOW, NOW));
  }

  private static Executor executor(String state, long age, long leaseOver) {
    Executor executor = new Executor();
    executor.state = Code.parse(ExecutorState.class, state);
    executor.createdAt = NOW.minusSeconds(age);
    executor.leaseExpiresAt = NOW.minusSeconds(leaseOver);
    return executor;
  }

  private static Observation seen(String name) {
    return switch (name) {
      case "absent" -> new Observation.Absent();
      case "pending" -> new Observation.Pending(null, null);
      case "waiting" -> new Observation.Pending("unschedulable", "no node has room");
      case "full" ->
          new Observation.Pending(
              "runtime_unavailable", "exceeded quota", new Shortage(true, Set.of("pods")));
      case "oom" -> new Observation.Ended("out_of_memory", "It used too much.", null);
      case "broken" -> new Observation.Running("Its runner ended with 1.");
      case "running" -> new Observation.Running(null);
      case "ended" -> new Observation.Ended(null, "Its process ended.", null);
      default -> throw new IllegalArgumentException(name);
    };
  }

  private static Step step(String name) {
    return switch (name) {
      case "create" -> new Step.Create();
      case "wait" -> new Step.Wait();
      default -> {
        String[] parts = name.split(": ", 2);
        yield parts.length == 2
            ? new Step.Recover(parts[0], parts[1])
            : new Step.Recover(null, name, name.startsWith("It has not reported for"));
      }
    };
  }
}
