package dev.roost.runtime.kubernetes;

import static dev.roost.runtime.kubernetes.TestEvents.event;
import static dev.roost.runtime.kubernetes.TestEvents.list;
import static dev.roost.runtime.kubernetes.TestEvents.second;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.time.Duration;
import java.util.Collections;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EventsTest {
  private static final String EVENTS = "/api/v1/namespaces/agents/events";
  private static final String JOBS = "/apis/batch/v1/namespaces/agents/jobs";
  private static final String JOB = "executor-1";
  private static final String POD = "executor-1-a";

  private final FakeApi api = new FakeApi();
  private final Cluster cluster = new Cluster(api.client, "agents");
  private final Events events = new Events(cluster, Duration.ofMillis(20));

  @AfterEach
  void close() {
    events.close();
    api.close();
  }

  /** Answers a watch, its start and lists. */
  private void allow(String... listed) {
    api.answer("GET " + EVENTS + "?limit=1", 200, list());
    api.answer("GET " + EVENTS, 200, list(listed));
    api.answer("WATCH " + EVENTS, 200, "");
  }

  /** The watch with a new Job and a warning about its pod, at version 107. */
  private FakeWatch watchWithWarning() {
    allow();
    FakeWatch watch = watch();
    create(JOB);
    watch.send("ADDED", warning("a", 107, "FailedMount"));
    return watch;
  }

  private FakeWatch watch() {
    events.watch();
    return api.watch();
  }

  private void create(String job) {
    api.answer(
        "POST " + JOBS,
        201,
        "{\"kind\": \"Job\", \"metadata\": {\"name\": \"%s\"}}".formatted(job));
    cluster.create(
        new JobBuilder().withNewMetadata().withName(job).endMetadata().build(), events.follow(job));
  }

  private static String warning(String uid, int version, String reason) {
    return event(uid, "" + version, "Pod", POD, "Warning", reason, second(version % 60));
  }

  private Optional<String> warning() {
    return events.warning(JOB, POD);
  }

  private int lists() {
    return Collections.frequency(api.requests, "GET " + EVENTS);
  }

  /** Waits until the watch's copy is used, which is empty or about to be. */
  private void awaitLive() {
    Await.until(
        "nothing is listed",
        () -> {
          int before = lists();
          warning();
          return lists() == before;
        });
  }

  @Test
  void anEventThatTheWatchDeliversIsSeenWithoutAList() {
    allow();
    FakeWatch watch = watch();
    assertTrue(watch.query.contains("resourceVersion=100"), watch.query);
    create(JOB);
    watch.send("ADDED", warning("a", 101, "FailedMount"));
    // Until the client notices the connection, it lists events, and the list is empty.
    Await.until("it is seen", () -> warning().equals(Optional.of("FailedMount: so")));
    int before = lists();
    watch.send("ADDED", event("b", "102", "Pod", POD, "Normal", "Pulled", second(50)));
    Await.until("it is over", () -> warning().isEmpty());
    assertEquals(before, lists());
  }

  @Test
  void aPendingPodOfANewJobCostsNoList() {
    allow();
    watch();
    warning();
    awaitLive();
    int before = lists();
    create("executor-2");
    for (int i = 0; i < 10; i++) {
      assertEquals(Optional.empty(), events.warning("executor-2", "executor-2"));
      assertEquals(Optional.empty(), events.warning("executor-2", "executor-2-b"));
    }
    assertEquals(before, lists());
  }

  @Test
  void aPodFromBeforeTheWatchIsListedOnce() {
    allow(warning("a", 90, "FailedMount"));
    FakeWatch watch = watch();
    awaitLive();
    int before = lists();
    assertEquals(Optional.of("FailedMount: so"), warning());
    watch.send("DELETED", warning("a", 101, "FailedMount"));
    api.answer("GET " + EVENTS, 200, list());
    Await.until("its event is gone", () -> warning().isEmpty());
    assertEquals(before + 1, lists());
  }

  @Test
  void aJobThatExistedIsListed() {
    allow(warning("a", 90, "FailedMount"));
    watch();
    events.warning("executor-2", "executor-2");
    Await.until(
        "it is live",
        () -> {
          int before = lists();
          events.warning("executor-2", "executor-2");
          return lists() == before;
        });
    api.refuse("POST " + JOBS, 409, "AlreadyExists");
    api.answer(
        "GET " + JOBS + "/" + JOB, 200, "{\"kind\": \"Job\", \"metadata\": {\"name\": \"x\"}}");
    cluster.create(
        new JobBuilder().withNewMetadata().withName(JOB).endMetadata().build(), events.follow(JOB));
    assertEquals(Optional.of("FailedMount: so"), warning());
  }

  @Test
  void eventsAreListedWhileTheWatchIsRefused() {
    allow(warning("a", 90, "FailedMount"));
    api.refuse("WATCH " + EVENTS, 403, "Forbidden");
    events.watch();
    create(JOB);
    Await.until(
        "it is tried again", () -> Collections.frequency(api.requests, "WATCH " + EVENTS) >= 2);
    for (int i = 1; i <= 3; i++) {
      assertEquals(Optional.of("FailedMount: so"), warning());
      assertEquals(i, lists());
    }
    api.answer("WATCH " + EVENTS, 200, "");
    api.watch();
    awaitLive();
    assertEquals(Optional.of("FailedMount: so"), warning());
  }

  @Test
  void eventsAreListedBeforeTheWatchIsConnected() {
    allow(warning("a", 90, "FailedMount"));
    create(JOB);
    assertEquals(Optional.of("FailedMount: so"), warning());
    assertEquals(1, lists());
  }

  @Test
  void aWatchContinuesWhereTheLastOneEnded() {
    FakeWatch first = watchWithWarning();
    first.end();
    FakeWatch second = api.watch();
    assertTrue(second.query.contains("resourceVersion=107"), second.query);
    awaitLive();
    int before = lists();
    assertEquals(Optional.of("FailedMount: so"), warning());
    second.send("MODIFIED", warning("a", 108, "Failed"));
    Await.until("it is seen", () -> warning().equals(Optional.of("Failed: so")));
    assertEquals(before, lists());
  }

  @Test
  void aWatchWhosePlaceIsGoneStartsWithTheEventsOfNow() {
    FakeWatch first = watchWithWarning();
    Await.until("it is seen", () -> warning().equals(Optional.of("FailedMount: so")));
    api.answer("GET " + EVENTS, 200, list(warning("b", 120, "Failed")));
    first.send(
        "ERROR",
        "{\"apiVersion\": \"v1\", \"kind\": \"Status\", \"status\": \"Failure\", \"code\": 410,"
            + " \"reason\": \"Expired\"}");
    FakeWatch second = api.watch();
    assertTrue(second.query.contains("resourceVersion=100"), second.query);
    assertEquals(Optional.of("Failed: so"), warning(), "missed meanwhile, so it is listed");
    awaitLive();
    int before = lists();
    second.send("ADDED", warning("c", 121, "Evicted"));
    Await.until("it is seen", () -> warning().equals(Optional.of("Evicted: so")));
    assertEquals(before, lists());
  }

  @Test
  void aPlaceThatTheApiServerRefusesAsGoneIsNotRequestedAgain() {
    FakeWatch first = watchWithWarning();
    api.refuse("WATCH " + EVENTS, 410, "Expired");
    first.end();
    Await.until(
        "the version of now is requested again",
        () -> Collections.frequency(api.requests, "GET " + EVENTS + "?limit=1") >= 2);
    api.answer("WATCH " + EVENTS, 200, "");
    FakeWatch second = api.watch();
    assertTrue(second.query.contains("resourceVersion=100"), second.query);
    assertEquals(Optional.empty(), warning(), "the list doesn't have it any longer");
  }

  @Test
  void aClosedWatchIsNotConnectedAgain() {
    allow();
    watch();
    awaitLive();
    events.close();
    Await.until(
        "events are listed",
        () -> {
          int before = lists();
          warning();
          return lists() > before;
        });
    events.watch();
    assertEquals(1, Collections.frequency(api.requests, "WATCH " + EVENTS));
  }

  @Test
  void anEndIsExplainedByAList() {
    allow(warning("a", 90, "Evicted"));
    watch();
    awaitLive();
    int before = lists();
    assertEquals(Optional.of("Evicted: so"), events.warningOfEnd(POD));
    assertEquals(Optional.of("Evicted: so"), events.lastWarningOfPods(JOB));
    assertEquals(before + 2, lists());
  }

  @Test
  void aListThatFailsIsNotTakenForNoEvents() {
    api.refuse("GET " + EVENTS, 500, "InternalError");
    assertThrows(RuntimeUnavailable.class, this::warning);
  }

  @Test
  void aWarningIsOverWhenSomethingElseHasHappenedSince() {
    String mount =
        event(
            "Pod",
            "executor-1-a",
            "Warning",
            "FailedMount",
            "'lastTimestamp': '2026-11-21T18:00:02Z'");
    String pulled =
        event("Pod", "executor-1-a", "Normal", "Pulled", "'lastTimestamp': '2026-11-21T18:00:03Z'");
    String scheduling =
        event(
            "Pod",
            "executor-1-a",
            "Warning",
            "FailedScheduling",
            "'eventTime': '2026-11-21T18:00:01.000000Z',"
                + " 'series': {'count': 3, 'lastObservedTime': '2026-11-21T18:00:04.000000Z'}");
    api.answer("GET " + EVENTS, 200, list(mount));
    assertEquals(Optional.of("FailedMount: so"), events.warning("executor-1", "executor-1-a"));
    api.answer("GET " + EVENTS, 200, list(mount, pulled));
    assertEquals(Optional.empty(), events.warning("executor-1", "executor-1-a"));
    api.answer("GET " + EVENTS, 200, list(scheduling, mount, pulled));
    assertEquals(Optional.of("FailedScheduling: so"), events.warning("executor-1", "executor-1-a"));
    api.answer("GET " + EVENTS, 200, list());
    assertEquals(Optional.empty(), events.warning("executor-1", "executor-1-a"));
  }

  @Test
  void whatEndedAPodIsFoundWhenThePodIsGone() {
    String time = "'lastTimestamp': '2026-11-21T18:00:02Z'";
    api.answer(
        "GET " + EVENTS,
        200,
        list(
            event("Pod", "executor-1-a", "Warning", "Evicted", time),
            event("Pod", "executor-10-b", "Warning", "Preempted", time.replace("02Z", "09Z")),
            event("Pod", "executor-1-a", "Normal", "Killing", time.replace("02Z", "03Z"))));
    assertEquals(Optional.of("Evicted: so"), events.lastWarningOfPods("executor-1"));
  }

  @Test
  void aWarningFromBeforeTheStartDoesNotExplainTheEnd() {
    String mount = event("Pod", "executor-1-a", "Warning", "FailedMount", second(1));
    String started = event("Pod", "executor-1-a", "Normal", "Started", second(2));
    String failed = event("Pod", "executor-1-a", "Warning", "FailedKillPod", second(3));
    api.answer("GET " + EVENTS, 200, list(mount));
    assertEquals(Optional.of("FailedMount: so"), events.lastWarningOfPods("executor-1"));
    api.answer("GET " + EVENTS, 200, list(mount, started));
    assertEquals(Optional.empty(), events.lastWarningOfPods("executor-1"));
    api.answer("GET " + EVENTS, 200, list(mount, started, failed));
    assertEquals(Optional.of("FailedKillPod: so"), events.lastWarningOfPods("executor-1"));
  }

  @Test
  void whatEndsAPodIsSaidThoughItsContainersAreBeingKilledSince() {
    String time = "'lastTimestamp': '2026-11-21T18:00:02Z'";
    api.answer(
        "GET " + EVENTS,
        200,
        list(
            event("Pod", "executor-1-a", "Warning", "Evicted", time),
            event("Pod", "executor-1-a", "Normal", "Killing", time.replace("02Z", "03Z")),
            event("Pod", "executor-1-a", "Warning", "Unhealthy", time.replace("02Z", "04Z"))));
    assertEquals(Optional.of("Evicted: so"), events.warningOfEnd("executor-1-a"));
  }
}
