package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.FiredEvents;
import dev.roost.FollowerDatabase;
import dev.roost.agent.AgentRequest;
import dev.roost.agent.Agents;
import dev.roost.api.JsonText;
import dev.roost.cluster.Draining;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.execution.ExecutorJobs;
import dev.roost.execution.JobClaimer;
import dev.roost.state.ExecutorState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors of a pool that poll two replicas, and the agents that get them. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class PoolsIT {
  private static final Duration LONG = Duration.ofSeconds(30);

  @Inject Dispatcher here;
  @Inject JobClaimer claims;
  @Inject ExecutorPools pools;
  @Inject PoolRepository repository;
  @Inject Agents agents;
  @Inject ExecutorJobs jobs;
  @Inject RoostConfig config;
  @Inject Clock clock;
  @Inject EntityManager entities;
  @Inject ScheduledExecutorService timer;
  @Inject Draining draining;
  @Inject Database database;

  private Rows rows;
  private String build;
  private String agent;
  private Dispatcher there;

  @BeforeEach
  void setUp() {
    rows = new Rows(database);
    build = rows.build(Instant.now(), "example/image@sha256:" + UUID.randomUUID());
    agent = agent(3);
    there =
        new Dispatcher(
            claims,
            new ExecutorSessions(entities, config, clock, new FiredEvents<>()),
            pools,
            config,
            timer,
            draining,
            new FiredEvents<>(),
            new FiredEvents<>(),
            new FiredEvents<>());
  }

  @AfterEach
  void tidyUp() {
    rows.run(
        "update builder_job set state = 'cancelled', build_id = null where build_id = ?", build);
    rows.clear();
  }

  private String agent(int maxConcurrency) {
    String id =
        agents.create(
            AgentRequest.of("agent " + UUID.randomUUID(), "def main():\n    return 1", ""));
    rows.run("update agent set max_concurrency = ? where id = ?", maxConcurrency, id);
    rows.run(
        """
        update builder_job set state = 'succeeded', build_id = ?
        where id = (select builder_job_id from agent_revision where agent_id = ?)""",
        build,
        id);
    return id;
  }

  private RevisionKey target() {
    return new RevisionKey(agent, 1);
  }

  /** One that is ready, in the pool that the agent's executors may come from. */
  private String pooled() {
    String id =
        QuarkusTransaction.requiringNew().call(() -> Executor.make(key(), Instant.now(), LONG).id);
    QuarkusTransaction.requiringNew().run(() -> Executor.ready(id, Instant.now()));
    return id;
  }

  private PoolKey key() {
    int memory =
        Integer.parseInt(rows.text("select memory_mib from agent where id = '" + agent + "'"));
    double cpu = Double.parseDouble(rows.text("select cpu from agent where id = '" + agent + "'"));
    return new PoolKey(build, memory, cpu, null, "all");
  }

  private void submit() {
    jobs.submit(agent, new JsonText("1"), null);
  }

  private Executor read(String id) {
    return QuarkusTransaction.requiringNew().call(() -> Executor.findById(id));
  }

  private static String given(CompletableFuture<PollAnswer> answer) {
    return assertInstanceOf(PollAnswer.Some.class, answer.orTimeout(60, TimeUnit.SECONDS).join())
        .work()
        .agentId();
  }

  @Test
  void aJobGoesToTheExecutorThatWaitsHereAndItKeepsTheAgent() {
    String executor = pooled();
    CompletableFuture<PollAnswer> poll = here.poll(executor, new Poll(1, false, true), LONG);
    assertFalse(poll.isDone());
    submit();
    assertEquals(agent, given(poll));
    assertEquals(agent, read(executor).agentId);
    assertEquals(1, (int) read(executor).slot);
    assertTrue(read(executor).pooled);
  }

  @Test
  void anExecutorThatWaitsElsewhereIsAssignedByThePool() {
    String executor = pooled();
    CompletableFuture<PollAnswer> poll = there.poll(executor, new Poll(1, false, true), LONG);
    submit();
    assertEquals(1, pools.assign(target(), 5));
    assertFalse(poll.isDone());
    there.assigned(new ExecutorAssigned(executor)); // the notification from this replica
    assertEquals(agent, given(poll));
  }

  @Test
  void withoutTheNotificationTheNextPollFindsTheAgent() {
    String executor = pooled();
    there.poll(executor, new Poll(1, false, true), LONG);
    submit();
    assertEquals(1, pools.assign(target(), 5));
    assertEquals(agent, given(there.poll(executor, new Poll(2, false, true), LONG)));
  }

  @Test
  void aPollThatMovedIsNotAnsweredWhereItWas() {
    String executor = pooled();
    CompletableFuture<PollAnswer> old = there.poll(executor, new Poll(1, false, true), LONG);
    CompletableFuture<PollAnswer> poll = here.poll(executor, new Poll(2, false, true), LONG);
    there.moved(new ExecutorMoved(executor));
    assertInstanceOf(PollAnswer.None.class, old.getNow(null));
    submit();
    assertEquals(agent, given(poll));
  }

  @Test
  void anAgentGetsNoMoreThanItsJobsNeedAndItsLimitAllows() {
    List<String> executors = List.of(pooled(), pooled(), pooled(), pooled());
    submit();
    assertEquals(1, pools.assign(target(), 5));
    assertEquals(0, pools.assign(target(), 5), "the first one has not claimed the job yet");
    for (int i = 0; i < 9; i++) {
      submit();
    }
    assertEquals(2, pools.assign(target(), 5));
    assertEquals(1, executors.stream().filter(id -> read(id).isInPool()).count());
  }

  @Test
  void concurrentAssignmentsShareTheSlots() {
    List<String> executors = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      executors.add(pooled());
      submit();
    }
    List<CompletableFuture<Integer>> all = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      all.add(CompletableFuture.supplyAsync(() -> pools.assign(target(), 1)));
    }
    assertEquals(3, all.stream().mapToInt(CompletableFuture::join).sum());
    HashSet<Integer> slots = new HashSet<>();
    executors.stream()
        .map(this::read)
        .filter(one -> !one.isInPool())
        .forEach(one -> slots.add(one.slot));
    assertEquals(3, slots.size());
  }

  @Test
  void onlyAnExecutorThatFitsIsAssigned() {
    String executor = pooled();
    submit();
    for (String other :
        List.of(
            "memory_mib = 17",
            "cpu = 0.01",
            "profile = 'gpu'",
            "egress = 'none'",
            "build_id = 'build_other'",
            "state = 'starting'",
            "state = 'stopping'",
            "lease_expires_at = now()")) {
      rows.run("update executor set " + other + " where id = ?", executor);
      assertEquals(0, pools.assign(target(), 5), other);
      rows.run(
          """
          update executor set memory_mib = ?, cpu = ?, profile = null, egress = 'all', build_id = ?,
            state = 'ready', lease_expires_at = now() + interval '1 hour'
          where id = ?""",
          key().memoryMib(),
          key().cpu(),
          build,
          executor);
    }
    assertEquals(1, pools.assign(target(), 5));
  }

  @Test
  void anExecutorThatIsToStopIsToldSo() {
    String executor = pooled();
    CompletableFuture<PollAnswer> poll = here.poll(executor, new Poll(1, false, true), LONG);
    pools.giveWay(1);
    assertInstanceOf(PollAnswer.Stop.class, poll.orTimeout(60, TimeUnit.SECONDS).join());
    assertEquals(ExecutorState.STOPPING, read(executor).state);
  }

  @Test
  void theWaitEndsAndTheExecutorStays() {
    String executor = pooled();
    assertInstanceOf(
        PollAnswer.None.class,
        here.poll(executor, new Poll(1, false, true), Duration.ofMillis(50)).join());
    CompletableFuture<PollAnswer> poll = there.poll(executor, new Poll(2, false, true), LONG);
    there.drain(new Draining.Begun());
    assertInstanceOf(PollAnswer.None.class, poll.getNow(null));
    assertTrue(read(executor).isInPool());
  }

  @Test
  void theSizesFollowTheColdStarts() {
    submit();
    pooled();
    pools.assign(target(), 1);
    List<PoolRepository.ColdStart> starts = repository.coldStarts(Duration.ofHours(1));
    assertEquals(key(), starts.get(0).pool().key());
    rows.run(
        "update executor set assigned_at = now() - interval '2 hours' where build_id = ?", build);
    rows.run("update executor set assigned_at = null where build_id <> ?", build);
    assertEquals(1, repository.coldStarts(Duration.ofHours(1)).size(), "the latest one ever");

    List<Executor> made = new ArrayList<>();
    pools.checkSoon();
    pools.fill(5, Instant.now(), made::add);
    assertTrue(made.isEmpty(), "the runtime has no such build");
  }
}
