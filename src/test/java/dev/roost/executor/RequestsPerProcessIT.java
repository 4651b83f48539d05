package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import dev.roost.execution.Execution;
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
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors whose process runs several executions; the polls here are those that they send. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class RequestsPerProcessIT {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final String ASYNC = "async def main():\\n  return 1";

  @Inject Dispatcher dispatcher;
  @Inject FrameIntake intake;
  @Inject Demand demand;
  @Inject ObjectMapper mapper;
  @Inject EntityManager entities;

  private final Map<String, Integer> polls = new HashMap<>();

  /** What each executor runs: the job by the Execution. */
  private final Map<String, Map<String, String>> running = new HashMap<>();

  private Api api;
  private String agent;

  @BeforeEach
  void makeAgent() {
    api = Api.as(Role.WRITE);
    agent =
        api.post(
                "/v1/agents",
                "{\"script\": \"%s\", \"max_concurrency\": 5, \"requests_per_process\": 3}"
                    .formatted(ASYNC))
            .get("id");
    sql("update builder_job set state = 'succeeded' where agent_id = '" + agent + "'");
  }

  private void sql(String statement) {
    QuarkusTransaction.requiringNew()
        .run(() -> entities.createNativeQuery(statement).executeUpdate());
  }

  private String executor() {
    return QuarkusTransaction.requiringNew()
        .call(() -> Executor.make(agent, 1, "build_", Instant.now(), LONG))
        .orElseThrow()
        .id;
  }

  private String submit(String options) {
    return api.post("/v1/agents/" + agent + "/execute", options).get("id");
  }

  private CompletableFuture<PollAnswer> poll(String executor, Duration wait) {
    int number = polls.merge(executor, 1, Integer::sum);
    Set<String> has = running.getOrDefault(executor, Map.of()).keySet();
    return dispatcher.poll(executor, new Poll(number, true, true, Set.copyOf(has)), wait);
  }

  private PollAnswer poll(String executor) {
    return poll(executor, Duration.ofMillis(20)).join();
  }

  private Work take(String executor, PollAnswer answer) {
    Work work = assertInstanceOf(PollAnswer.Some.class, answer).work();
    running
        .computeIfAbsent(executor, id -> new LinkedHashMap<>())
        .put(work.executionId(), work.executorJobId());
    return work;
  }

  private Work work(String executor) {
    return take(executor, poll(executor));
  }

  private void end(String executor, Work work) {
    String last =
        "{\"seq\": 1, \"type\": \"returned\", \"time\": \"%s\", \"value\": \"1\", \"logs_truncated\": false, \"usage\": {\"cpu_seconds\": 0.1, \"max_memory_bytes\": 1}}"
            .formatted(Instant.now());
    intake.take(executor, work.executionId(), List.of(Frame.parse(mapper, last)));
    running.get(executor).remove(work.executionId());
    dispatcher.heard(executor, work.executionId(), true);
  }

  private Optional<Demand.Waiting> demanded() {
    return QuarkusTransaction.requiringNew().call(() -> demand.read(Instant.now())).stream()
        .filter(group -> group.target().agentId().equals(agent))
        .findFirst();
  }

  private int missing() {
    return demanded().map(group -> group.missing(group.starting())).orElse(0);
  }

  private String state(String executor) {
    return (String)
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    entities
                        .createNativeQuery("select state from executor where id = :id")
                        .setParameter("id", executor)
                        .getSingleResult());
  }

  @Test
  void oneExecutorRunsSeveralExecutionsAtATime() {
    List<String> jobs = List.of(submit("{}"), submit("{}"), submit("{}"), submit("{}"));
    assertEquals(2, missing(), "four jobs, three in each process");
    String executor = executor();
    Set<String> taken = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      taken.add(work(executor).executorJobId());
    }
    assertEquals(Set.copyOf(jobs.subList(0, 3)), taken);
    assertInstanceOf(PollAnswer.None.class, poll(executor), "its process is full");
    assertEquals(1, missing());
    String second = executor();
    assertEquals(jobs.get(3), work(second).executorJobId());
  }

  @Test
  void theAgentsLimitHoldsAmongProcesses() {
    for (int i = 0; i < 8; i++) {
      submit("{}");
    }
    String one = executor();
    String two = executor();
    List<Work> works = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      works.add(work(one));
    }
    work(two);
    work(two);
    assertInstanceOf(PollAnswer.None.class, poll(two), "five run, as many as may");
    assertEquals(0, missing(), "max_concurrency keeps the others waiting");
    CompletableFuture<PollAnswer> waits = poll(two, LONG);
    end(one, works.get(0));
    // The place may be taken in another process than that of the execution that has ended.
    take(two, waits.getNow(null));
  }

  @Test
  void claimsAtTheSameMomentKeepTheLimit() throws Exception {
    api.patch("/v1/agents/" + agent, "{\"max_concurrency\": 7}");
    List<String> executors = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      executors.add(executor());
    }
    for (int i = 0; i < 12; i++) {
      submit("{}");
    }
    int started = 0;
    ExecutorService threads = Executors.newFixedThreadPool(5);
    try {
      for (int round = 0; round < 3; round++) {
        List<Callable<PollAnswer>> claims = new ArrayList<>();
        executors.forEach(executor -> claims.add(() -> poll(executor)));
        List<Future<PollAnswer>> answers = threads.invokeAll(claims);
        for (int i = 0; i < 5; i++) {
          if (answers.get(i).get() instanceof PollAnswer.Some some) {
            take(executors.get(i), some);
            started++;
          }
        }
      }
    } finally {
      threads.shutdown();
    }
    assertEquals(7, started);
  }

  @Test
  void aJobThatIsSubmittedMeanwhileStartsInTheSameProcessAtOnce() {
    String executor = executor();
    submit("{}");
    work(executor);
    CompletableFuture<PollAnswer> waits = poll(executor, LONG);
    String next = submit("{}");
    assertEquals(next, take(executor, waits.getNow(null)).executorJobId());
    assertEquals("running", api.get("/v1/executor-jobs/" + next).get("state"));
    assertEquals(0, missing());
  }

  @Test
  void jobsWithOneKeyRunOneAtATimeInAProcessToo() {
    String executor = executor();
    submit("{\"concurrency_key\": \"a\"}");
    String second = submit("{\"concurrency_key\": \"a\"}");
    Work first = work(executor);
    CompletableFuture<PollAnswer> waits = poll(executor, LONG);
    assertFalse(waits.isDone());
    end(executor, first);
    assertEquals(second, take(executor, waits.getNow(null)).executorJobId());
  }

  @Test
  void workWhoseAnswerWasLostIsGivenAgainAndTheOthersGoOn() {
    String executor = executor();
    submit("{}");
    submit("{}");
    Work kept = work(executor);
    Work lost = assertInstanceOf(PollAnswer.Some.class, poll(executor)).work();
    assertEquals(lost.executionId(), work(executor).executionId());
    assertInstanceOf(PollAnswer.None.class, poll(executor));
    assertEquals("running", api.get("/v1/executor-jobs/" + kept.executorJobId()).get("state"));
    // What it had begun and has forgotten is lost; the other one isn't.
    String started =
        "{\"seq\": 1, \"type\": \"started\", \"time\": \"%s\"}".formatted(Instant.now());
    intake.take(executor, lost.executionId(), List.of(Frame.parse(mapper, started)));
    running.get(executor).remove(lost.executionId());
    poll(executor);
    assertEquals("lost", api.get("/v1/executions/" + lost.executionId()).get("state"));
    assertEquals("running", api.get("/v1/executions/" + kept.executionId()).get("state"));
  }

  @Test
  void anExecutorIsIdleWhenItsLastExecutionHasEnded() throws Exception {
    api.patch("/v1/agents/" + agent, "{\"keep_warm\": 0}");
    String executor = executor();
    submit("{}");
    submit("{}");
    Work first = work(executor);
    Work second = work(executor);
    CompletableFuture<PollAnswer> waits = poll(executor, LONG);
    end(executor, first);
    assertFalse(waits.isDone(), "it isn't stopped while it has work");
    assertEquals("ready", state(executor));
    end(executor, second);
    // Its poll ends, and the next one brings the end.
    assertInstanceOf(PollAnswer.None.class, waits.get(20, TimeUnit.SECONDS));
    assertInstanceOf(PollAnswer.Stop.class, poll(executor));
  }

  @Test
  void anExecutorOfAnEarlierRevisionEndsAfterItsWork() throws Exception {
    String executor = executor();
    submit("{}");
    Work old = work(executor);
    CompletableFuture<PollAnswer> waits = poll(executor, LONG);
    api.patch("/v1/agents/" + agent, "{\"script\": \"%s\"}".formatted(ASYNC.replace("1", "2")));
    assertFalse(waits.isDone());
    assertEquals("ready", state(executor));
    end(executor, old);
    assertInstanceOf(PollAnswer.None.class, waits.get(20, TimeUnit.SECONDS));
    assertInstanceOf(PollAnswer.Stop.class, poll(executor));
  }

  @Test
  void anExecutorThatWasStartedWithAnotherNumberGetsNoMoreWork() {
    String executor = executor();
    submit("{}");
    Work old = work(executor);
    api.patch("/v1/agents/" + agent, "{\"requests_per_process\": 2}");
    submit("{}");
    assertEquals(1, missing(), "its places don't count");
    assertInstanceOf(PollAnswer.None.class, poll(executor));
    assertEquals("ready", state(executor));
    end(executor, old);
    assertInstanceOf(PollAnswer.Stop.class, poll(executor));
    String next = executor();
    work(next);
  }

  @Test
  void allExecutionsOfAnExecutorAreFound() {
    String executor = executor();
    submit("{}");
    submit("{}");
    Set<String> works = Set.of(work(executor).executionId(), work(executor).executionId());
    List<Execution> found =
        QuarkusTransaction.requiringNew().call(() -> Execution.runningOn(executor));
    assertEquals(works, new HashSet<>(found.stream().map(execution -> execution.id).toList()));
  }

  @Test
  void theSettingIsCheckedTogetherWithTheScriptAndTheIsolation() {
    String plain =
        api.post(
                "/v1/agents",
                "{\"script\": \"def main():\\n  return 1\", \"requests_per_process\": 2}")
            .get("errors[0].pointer");
    assertEquals("/requests_per_process", plain);
    Api.Answer script =
        api.patch("/v1/agents/" + agent, "{\"script\": \"def main():\\n  return 1\"}");
    assertEquals("main_not_async", script.get("errors[0].code"));
    assertEquals("/script", script.get("errors[0].pointer"));
    Api.Answer pod = api.patch("/v1/agents/" + agent, "{\"isolation\": \"pod\"}");
    assertEquals("/isolation", pod.get("errors[0].pointer"));
    assertEquals(422, api.patch("/v1/agents/" + agent, "{\"requests_per_process\": 101}").status());
    // The names of other functions, and a main that is async in one of two branches, are fine.
    String both = "if True:\\n  pass\\ndef mainly(): pass\\nasync def main():\\n  return 1";
    assertEquals(
        200, api.patch("/v1/agents/" + agent, "{\"script\": \"%s\"}".formatted(both)).status());
    Api.Answer one = api.patch("/v1/agents/" + agent, "{\"requests_per_process\": 1}");
    assertEquals(1, one.<Integer>get("requests_per_process"));
  }

  @Test
  void theExecutorLearnsTheNumberWithTheScript() {
    String executor = executor();
    submit("{}");
    Poll first = new Poll(1, false, true);
    polls.put(executor, 1);
    Work work = take(executor, dispatcher.poll(executor, first, LONG).join());
    assertEquals(3, work.agent().requestsPerProcess());
    assertNull(work.agent().preload(), "its process imports once anyway");
    assertTrue(work.memoryMib() > 0);
  }
}
