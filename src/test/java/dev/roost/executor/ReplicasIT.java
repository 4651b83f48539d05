package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.Await;
import dev.roost.FiredEvents;
import dev.roost.FollowerDatabase;
import dev.roost.agent.AgentChanged;
import dev.roost.agent.AgentRequest;
import dev.roost.agent.Agents;
import dev.roost.api.JsonText;
import dev.roost.cluster.Draining;
import dev.roost.cluster.NotificationsLost;
import dev.roost.config.RoostConfig;
import dev.roost.execution.ExecutorJobs;
import dev.roost.execution.Frame;
import dev.roost.execution.FrameIntake;
import dev.roost.execution.JobClaimer;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One executor whose polls and frames come to two replicas in turn: the application and another
 * dispatcher with a memory of its own. Neither leads.
 */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class ReplicasIT {
  private static final Duration LONG = Duration.ofSeconds(30);

  @Inject Dispatcher here;
  @Inject JobClaimer claims;
  @Inject ExecutorEviction eviction;
  @Inject Demand demand;
  @Inject FrameIntake intake;
  @Inject ExecutorTokens tokens;
  @Inject Agents agents;
  @Inject ExecutorJobs jobs;
  @Inject RoostConfig config;
  @Inject Clock clock;
  @Inject ObjectMapper mapper;
  @Inject EntityManager entities;
  @Inject ScheduledExecutorService timer;
  @Inject Draining draining;
  @Inject ExecutorPools pools;

  private final FiredEvents<ExecutorMoved> moved = new FiredEvents<>();
  private final FiredEvents<ExecutorStopped> stopped = new FiredEvents<>();
  private Dispatcher there;
  private String agent;

  @BeforeEach
  void setUp() {
    ExecutorSessions sessions = new ExecutorSessions(entities, config, clock, moved);
    there =
        new Dispatcher(
            claims,
            sessions,
            pools,
            config,
            timer,
            draining,
            new FiredEvents<>(),
            new FiredEvents<>(),
            stopped);
    agent =
        agents.create(
            AgentRequest.of("agent " + UUID.randomUUID(), "def main():\n    return 1", ""));
  }

  private String executor() {
    return QuarkusTransaction.requiringNew()
        .call(() -> Executor.make(agent, 1, "build_", Instant.now(), LONG).orElseThrow().id);
  }

  private void submit() {
    jobs.submit(agent, new JsonText("1"), null);
  }

  private static PollAnswer now(Dispatcher replica, String executor, int polls) {
    return replica.poll(executor, new Poll(polls, true, true), Duration.ofMillis(50)).join();
  }

  private static String given(PollAnswer answer) {
    return assertInstanceOf(PollAnswer.Some.class, answer).work().executionId();
  }

  private void end(Dispatcher replica, String executor, String execution) {
    String last =
        """
        {"seq": 1, "type": "returned", "time": "%s", "value": "1", "logs_truncated": false,
         "usage": {"cpu_seconds": 0.1, "max_memory_bytes": 1}}"""
            .formatted(Instant.now());
    intake.take(executor, execution, List.of(Frame.parse(mapper, last.replace("\n", ""))));
    replica.heard(executor, execution, true);
  }

  private String state(String executor) {
    return QuarkusTransaction.requiringNew()
        .call(() -> ((Executor) Executor.findById(executor)).state.code());
  }

  private void set(String executor, String assignment) {
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                entities
                    .createNativeQuery("update executor set " + assignment + " where id = :id")
                    .setParameter("id", executor)
                    .executeUpdate());
  }

  @Test
  void workWhoseAnswerGotLostHereIsHandedOutAgainThere() {
    String executor = executor();
    submit();
    String execution = given(now(here, executor, 1));
    assertEquals(execution, given(now(there, executor, 2)));
    assertEquals(execution, given(now(here, executor, 3)));
    assertEquals(execution, given(now(here, executor, 4)));
  }

  @Test
  void whatEndedByFramesThatCameThereIsNotHandedOutAgainHere() {
    String executor = executor();
    submit();
    String first = given(now(here, executor, 1));
    end(there, executor, first);
    assertInstanceOf(PollAnswer.None.class, now(here, executor, 2));
    submit();
    assertFalse(first.equals(given(now(here, executor, 3))));
  }

  @Test
  void anExecutorThatComesBackIsReadAnew() {
    String executor = executor();
    assertInstanceOf(PollAnswer.None.class, now(here, executor, 1));
    submit();
    String execution = given(now(there, executor, 2));
    // This replica knows nothing of that execution: without the number it would claim another.
    assertEquals(execution, given(now(here, executor, 3)));
  }

  @Test
  void warmthCountsFromTheEndOfTheLatestExecutionWhereverItWas() {
    String executor = executor();
    submit();
    String execution = given(now(here, executor, 1));
    end(here, executor, execution);
    // It is kept warm for a minute.
    finished(execution, "30 s");
    assertInstanceOf(
        PollAnswer.None.class, there.poll(executor, new Poll(2, true, true), Duration.ZERO).join());
    finished(execution, "59.5 s");
    CompletableFuture<PollAnswer> poll =
        there.poll(executor, new Poll(4, true, true), LONG); // One went elsewhere.
    assertInstanceOf(PollAnswer.Stop.class, poll.orTimeout(60, TimeUnit.SECONDS).join());
    assertEquals("stopping", state(executor));
  }

  private void finished(String execution, String ago) {
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                entities
                    .createNativeQuery(
                        "update execution set finished_at = now() - cast(:ago as interval) where id = :id")
                    .setParameter("ago", ago)
                    .setParameter("id", execution)
                    .executeUpdate());
  }

  @Test
  void anExecutorThatMovedIsNotified() {
    String executor = executor();
    CompletableFuture<PollAnswer> old = there.poll(executor, new Poll(1, true, true), LONG);
    assertInstanceOf(PollAnswer.None.class, now(here, executor, 2));
    there.moved(new ExecutorMoved(executor));
    assertInstanceOf(PollAnswer.None.class, old.getNow(null));
    now(there, executor, 3);
    assertEquals(List.of(new ExecutorMoved(executor)), moved.all());
  }

  /** The hint that it has moved came too late. */
  @Test
  void whatAnOldPollWasGivenIsHandedOutWhenTheLeaseIsRenewed() {
    String executor = executor();
    CompletableFuture<PollAnswer> nobodyReadsThis =
        here.poll(executor, new Poll(1, true, true), LONG);
    assertInstanceOf(PollAnswer.None.class, now(there, executor, 2));
    submit();
    String execution = given(nobodyReadsThis.getNow(null));
    int[] polls = {3};
    String[] found = new String[1];
    Await.until(
        "it is handed out there",
        () -> {
          if (now(there, executor, polls[0]++) instanceof PollAnswer.Some some) {
            found[0] = some.work().executionId();
          }
          return found[0] != null;
        });
    assertEquals(execution, found[0]);
  }

  @Test
  void anExecutorThatTheLeaderStopsHearsItWithinFiveSeconds() {
    String executor = executor();
    now(here, executor, 1);
    set(executor, "state = 'stopping'");
    int[] polls = {2};
    Await.until("it is told", () -> now(here, executor, polls[0]++) instanceof PollAnswer.Stop);
  }

  @Test
  void aJobThatWaitsElsewhereGoesToWhoeverWaitsHere() {
    String executor = executor();
    CompletableFuture<PollAnswer> poll = there.poll(executor, new Poll(1, true, true), LONG);
    submit();
    assertFalse(poll.isDone());
    there.queued(new JobWaiting(agent, 1));
    assertTrue(poll.isDone());
    end(there, executor, given(poll.join()));
  }

  @Test
  void waitersQueryAgainWhenNotificationsMayHaveBeenLost() {
    String executor = executor();
    CompletableFuture<PollAnswer> poll = there.poll(executor, new Poll(1, true, true), LONG);
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                entities
                    .createNativeQuery("update agent set revision = 2 where id = :id")
                    .setParameter("id", agent)
                    .executeUpdate());
    there.lookAgain(new NotificationsLost());
    assertInstanceOf(PollAnswer.None.class, poll.getNow(null));
    assertInstanceOf(PollAnswer.Stop.class, now(there, executor, 2));
  }

  @Test
  void whoeverWaitsIsAnsweredWhenThisReplicaStops() {
    CompletableFuture<PollAnswer> poll = there.poll(executor(), new Poll(1, true, true), LONG);
    there.drain(new Draining.Begun());
    assertInstanceOf(PollAnswer.None.class, poll.getNow(null));
  }

  @Test
  void aChangeOfTheAgentElsewhereStopsIdleExecutorsHere() {
    CompletableFuture<PollAnswer> poll = there.poll(executor(), new Poll(1, true, true), LONG);
    there.changed(new AgentChanged(agent, 2));
    assertInstanceOf(PollAnswer.Stop.class, poll.getNow(null));
  }

  @Test
  void capacityIsFreedByTheExecutorThatHasBeenIdleLongest() {
    String young = executor();
    String old = executor();
    String working = executor();
    CompletableFuture<PollAnswer> youngPoll = there.poll(young, new Poll(1, true, true), LONG);
    CompletableFuture<PollAnswer> oldPoll = here.poll(old, new Poll(1, true, true), LONG);
    set(old, "ready_at = now() - interval '1 hour'");
    RevisionKey other = new RevisionKey(agent, 2);

    submit(); // The one that came last gets it: here, the only one.
    String execution = given(oldPoll.getNow(null));
    eviction.freeCapacity(agent, other, 1);
    assertEquals("ready", state(old), "it works");
    assertEquals("stopping", state(young));
    there.stopped(new ExecutorStopped(young)); // As the hint of the other replica does.
    assertInstanceOf(PollAnswer.Stop.class, youngPoll.getNow(null));

    end(there, old, execution);
    eviction.freeCapacity(agent, other, 1);
    assertEquals("ready", state(old), "one is leaving already");
    eviction.freeCapacity(agent, new RevisionKey(agent, 1), 2);
    assertEquals("ready", state(old), "it is what is needed");
    eviction.freeCapacity(agent, other, 2);
    assertEquals("stopping", state(old));
    assertEquals("starting", state(working));
  }

  @Test
  void freeExecutorsAreCountedWhereverTheyPoll() {
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                entities
                    .createNativeQuery(
                        "update builder_job set state = 'succeeded' where agent_id = :agent")
                    .setParameter("agent", agent)
                    .executeUpdate());
    String idle = executor();
    String silent = executor();
    String working = executor();
    executor();
    submit();
    String execution = given(now(here, working, 1));
    assertInstanceOf(PollAnswer.None.class, now(there, idle, 1));
    assertInstanceOf(PollAnswer.None.class, now(there, silent, 1));
    set(silent, "lease_expires_at = now() - interval '1 s'");
    there.poll(idle, new Poll(2, true, true), Duration.ZERO).join();
    // Nobody waits now, so it stays in the queue.
    submit();

    assertEquals(List.of(1, 1, 1), counts());
    end(there, working, execution);
    assertEquals(List.of(1, 1, 2), counts());
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                entities
                    .createNativeQuery("update agent set isolation = 'pod' where id = :id")
                    .setParameter("id", agent)
                    .executeUpdate());
    assertEquals(List.of(1, 1, 1), counts(), "the one that has worked will not work again");
  }

  /** Waiting, starting, free. */
  private List<Integer> counts() {
    return QuarkusTransaction.requiringNew().call(() -> demand.read(Instant.now())).stream()
        .filter(group -> group.target().agentId().equals(agent))
        .map(group -> List.of(group.waiting(), group.starting(), group.free()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theNumberOfAPollComesOverTheLink() {
    String executor = executor();
    submit();
    String execution = given(now(there, executor, 1));
    String path = "/internal/v1/executors/" + executor + "/poll?wait=0";
    String[] token = {"Authorization", "Bearer " + tokens.make(executor)};
    Api link = Api.withKey(null);
    Api.Answer answer =
        link.post(path, "{\"protocol\": 1, \"prepared\": true, \"polls\": 2}", token);
    assertEquals(200, answer.status());
    assertEquals(execution, answer.get("execution_id"));
    end(there, executor, execution);
    assertEquals(
        204,
        link.post(path, "{\"protocol\": 1, \"prepared\": true, \"polls\": 3}", token).status());
    assertEquals(204, link.post(path, "{\"protocol\": 1, \"prepared\": true}", token).status());
  }

  @Test
  void anExecutorOfAnotherProtocolVersionIsRefused() {
    String executor = executor();
    submit();
    String path = "/internal/v1/executors/" + executor + "/poll?wait=5";
    String[] token = {"Authorization", "Bearer " + tokens.make(executor)};
    Api link = Api.withKey(null);
    Api.Answer answer = link.post(path, "{\"protocol\": 2, \"polls\": 1}", token);
    assertEquals(422, answer.status());
    assertEquals("validation_failed", answer.get("code"));
    assertEquals(
        "This control plane speaks version 1 of the executor link; the executor speaks version 2.",
        answer.get("detail"));
    assertEquals(422, link.post(path, "{\"polls\": 1}", token).status());
    assertEquals(200, link.post(path, "{\"protocol\": 1, \"polls\": 1}", token).status());
  }
}
