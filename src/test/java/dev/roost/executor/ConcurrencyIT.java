package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import dev.roost.execution.Frame;
import dev.roost.execution.FrameIntake;
import dev.roost.execution.Work;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who gets which job when; nothing runs here, and no reconciler starts executors. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class ConcurrencyIT {
  @Inject Dispatcher dispatcher;
  @Inject FrameIntake intake;
  @Inject Demand demand;
  @Inject ExecutorEviction room;
  @Inject ObjectMapper mapper;
  @Inject EntityManager entities;

  private final Map<String, Integer> polls = new HashMap<>();
  private Api api;
  private String agent;

  @BeforeEach
  void makeAgent() {
    api = Api.as(Role.WRITE);
    agent =
        api.post("/v1/agents", "{\"script\": \"def main():\\n  return 1\", \"max_concurrency\": 3}")
            .get("id");
    sql("update builder_job set state = 'succeeded' where agent_id = '" + agent + "'");
  }

  private void sql(String statement) {
    QuarkusTransaction.requiringNew()
        .run(() -> entities.createNativeQuery(statement).executeUpdate());
  }

  private Optional<String> executor() {
    return QuarkusTransaction.requiringNew()
        .call(() -> Executor.make(agent, 1, "build_", Instant.now(), Duration.ofSeconds(30)))
        .map(executor -> executor.id);
  }

  private String submit(String options) {
    return api.post("/v1/agents/" + agent + "/execute", options).get("id");
  }

  private PollAnswer poll(String executor) {
    int number = polls.merge(executor, 1, Integer::sum);
    return dispatcher.poll(executor, new Poll(number, true, true), Duration.ofMillis(20)).join();
  }

  private Work work(String executor) {
    return assertInstanceOf(PollAnswer.Some.class, poll(executor)).work();
  }

  private void end(String executor, Work work) {
    String last =
        "{\"seq\": 1, \"type\": \"returned\", \"time\": \"%s\", \"value\": \"1\", \"logs_truncated\": false, \"usage\": {\"cpu_seconds\": 0.1, \"max_memory_bytes\": 1}}"
            .formatted(Instant.now());
    intake.take(executor, work.executionId(), List.of(Frame.parse(mapper, last)));
    dispatcher.heard(executor, work.executionId(), true);
  }

  @Test
  void jobsAreRunByPriorityAndThenByAge() {
    String low = submit("{\"priority\": -5}");
    String first = submit("{}");
    String second = submit("{}");
    String high = submit("{\"priority\": 100}");
    String executor = executor().orElseThrow();
    List<String> order = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Work work = work(executor);
      order.add(work.executorJobId());
      end(executor, work);
    }
    assertEquals(List.of(high, first, second, low), order);
  }

  @Test
  void executorsOfEarlierReleasesGetNoDrafts() {
    String draft =
        api.post("/v1/agents/" + agent + "/execute-draft", "{\"script\": \"draft = 1\"}").get("id");
    String saved = submit("{}");
    String old = executor().orElseThrow();
    Poll poll = new Poll(1, true, false);
    PollAnswer.Some answer =
        assertInstanceOf(
            PollAnswer.Some.class, dispatcher.poll(old, poll, Duration.ofMillis(20)).join());
    assertEquals(saved, answer.work().executorJobId());
    Work work = work(executor().orElseThrow());
    assertEquals(draft, work.executorJobId());
    assertEquals("draft = 1", work.draft());
  }

  @Test
  void jobsWithOneKeyRunOneAtATimeAndOthersPassThem() {
    String first = submit("{\"concurrency_key\": \"a\"}");
    String second = submit("{\"concurrency_key\": \"a\"}");
    String other = submit("{\"concurrency_key\": \"b\"}");
    String one = executor().orElseThrow();
    String two = executor().orElseThrow();
    assertEquals(2, waiting(), "of the key a, one could run");
    Work running = work(one);
    assertEquals(first, running.executorJobId());
    assertEquals(other, work(two).executorJobId());
    String three = executor().orElseThrow();
    assertInstanceOf(PollAnswer.None.class, poll(three));
    assertEquals("concurrency", api.get("/v1/executor-jobs/" + second).get("waiting_on"));
    assertEquals(0, waiting(), "no further executor is needed");
    // Whoever waits for work is told as soon as the key is free.
    var waits =
        dispatcher.poll(
            three,
            new Poll(polls.merge(three, 1, Integer::sum), true, true),
            Duration.ofSeconds(60));
    end(one, running);
    assertEquals(
        second, assertInstanceOf(PollAnswer.Some.class, waits.getNow(null)).work().executorJobId());
  }

  private int waiting() {
    return QuarkusTransaction.requiringNew().call(() -> demand.read(Instant.now())).stream()
        .filter(group -> group.target().agentId().equals(agent))
        .mapToInt(Demand.Waiting::waiting)
        .sum();
  }

  @Test
  void ofManyThatClaimOneKeyAtTheSameMomentOneGetsAJob() throws Exception {
    api.patch("/v1/agents/" + agent, "{\"max_concurrency\": 8}");
    List<String> executors = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      executors.add(executor().orElseThrow());
    }
    executors.forEach(this::poll);
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 8; i++) {
          QuarkusTransaction.requiringNew()
              .run(
                  () ->
                      entities
                          .createNativeQuery(
                              """
                              insert into executor_job (id, agent_id, agent_revision, state, created_at, concurrency_key)
                              values (:id, :agent, 1, 'queued', now(), 'k')""")
                          .setParameter("id", dev.roost.api.Ids.next("xjob"))
                          .setParameter("agent", agent)
                          .executeUpdate());
        }
        dispatcher.offer(new RevisionKey(agent, 1), 0);
        List<Callable<PollAnswer>> claims = new ArrayList<>();
        for (String executor : executors) {
          int number = polls.merge(executor, 1, Integer::sum);
          claims.add(
              () ->
                  dispatcher
                      .poll(executor, new Poll(number, true, true), Duration.ofMillis(20))
                      .join());
        }
        int got = 0;
        List<Future<PollAnswer>> answers = threads.invokeAll(claims);
        for (int i = 0; i < 8; i++) {
          if (answers.get(i).get() instanceof PollAnswer.Some some) {
            got++;
            sql("delete from executor_job where agent_id = '" + agent + "' and state = 'queued'");
            end(executors.get(i), some.work());
          }
        }
        assertEquals(1, got);
      }
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void thereAreNeverMoreExecutorsThanTheAgentMayHave() {
    List<String> executors = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      executors.add(executor().orElseThrow());
    }
    assertEquals(Optional.empty(), executor());
    submit("{}");
    Work work = work(executors.get(1));
    // It is no more, but what it ran may run on until it is taken home.
    sql("update executor set state = 'ended' where id = '" + executors.get(1) + "'");
    assertEquals(Optional.empty(), executor());
    intake.replay(
        work.executionId(),
        List.of(),
        null,
        dev.roost.execution.Outcome.lost("test", Instant.now()),
        true);
    assertTrue(executor().isPresent());
  }

  @Test
  void whenTheLimitIsLoweredExecutorsAboveItStop() {
    List<String> executors = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      executors.add(executor().orElseThrow());
      poll(executors.get(i));
    }
    submit("{}");
    Work working = work(executors.get(2));
    api.patch("/v1/agents/" + agent, "{\"max_concurrency\": 1}");
    submit("{}");
    submit("{}");
    assertInstanceOf(PollAnswer.Stop.class, poll(executors.get(1)));
    Work work = work(executors.get(0));
    end(executors.get(2), working);
    assertInstanceOf(PollAnswer.Stop.class, poll(executors.get(2)), "it has ended its work");
    end(executors.get(0), work);
    work(executors.get(0));
  }

  @Test
  void idleExecutorsAboveALoweredLimitAreStopped() {
    String first = executor().orElseThrow();
    String second = executor().orElseThrow();
    poll(first);
    poll(second);
    api.patch("/v1/agents/" + agent, "{\"max_concurrency\": 1}");
    room.stopSurplus();
    assertEquals(List.of("ready", "stopping"), List.of(state(first), state(second)));
  }

  @Test
  void oneThatYieldsEndsItsWorkAndIsStopped() {
    String executor = executor().orElseThrow();
    submit("{}");
    submit("{}");
    Work work = work(executor);
    room.yield(agent, 1);
    room.stopSurplus();
    assertEquals("ready", state(executor), "it works");
    end(executor, work);
    room.stopSurplus();
    assertEquals("stopping", state(executor));
    assertEquals(1, waiting(), "the other job waits for another executor");
  }

  private String state(String executor) {
    return QuarkusTransaction.requiringNew()
        .call(() -> ((Executor) Executor.findById(executor)).state.code());
  }
}
