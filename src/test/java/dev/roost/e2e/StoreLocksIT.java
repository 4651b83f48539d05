package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whoever has lost a lock writes nothing more once another one holds it, whatever happened. */
@EveryRuntime
class StoreLocksIT {
  private static final int LONG_SECONDS = 600;

  /** Long before a lease is over, or an executor is called lost that is only silent. */
  private static final Duration SOON = Duration.ofSeconds(60);

  /** Within it a script has begun to write, also on a busy machine. */
  private static final int TIMEOUT_SECONDS = 6;

  /** The longest that a request for a lock is held: whoever waits less has counted itself. */
  private static final int LONGEST_WAIT_SECONDS = 20;

  private static RoostProcess roost;
  private static Client client;

  private final LineSink sink = new LineSink();
  private String store;

  @BeforeAll
  static void start() {
    roost = RoostProcess.started("ROOST_LOCAL_MAX_EXECUTORS", "12", "ROOST_EXECUTORS_GRACE", "1s");
    client = roost.client();
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  @BeforeEach
  void makeStore() {
    store = StoreRun.store(client);
  }

  @AfterEach
  void close() {
    sink.close();
  }

  @Test
  void aKilledHolderWritesNothingMoreAndItsLockIsFreeSoon() {
    String agent = agent();
    submit(agent, "hold", "first", LONG_SECONDS, false);
    await("first wrote");
    String second = submit(agent(), "follow", "second", 0, false);
    await("second waits");
    roost.workers().executorOf(agent, "runner").kill();
    awaitSoon("second holds");
    await("second wrote", 20);
    sink.enough();
    assertSucceeded(second);
    assertNothingOfTheFirstIsAfter("second");
  }

  @Test
  void aHolderThatStoodStillBeyondItsLeaseIsRefusedUntilItKnows() {
    String agent = agent();
    String first = submit(agent, "hold", "first", 2, false);
    await("first wrote");
    Machine.Running script = roost.workers().scriptOf(agent);
    script.signal("STOP");
    // Not before: it would take the lock from a first one that was late with its renewal.
    String second = submit(agent(), "follow", "second", 0, false);
    await("second wrote", 5);
    script.signal("CONT");
    await("first after");
    await("second wrote", 20);
    sink.enough();
    assertSucceeded(first);
    assertSucceeded(second);
    assertNothingOfTheFirstIsAfter("second");
    List<String> ends = events("first").stream().filter(line -> !line.contains("wrote")).toList();
    assertEquals(
        List.of("refused", "refused", "refused", "not-held", "lost"),
        ends.subList(1, ends.size() - 1),
        "and then it may write again");
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests kill and stop pods")
  void aCancelledHolderThatDoesNotEndWritesNothingMore() {
    String agent = agent();
    String first = submit(agent, "hold", "first", LONG_SECONDS, true);
    await("first wrote");
    String second = submit(agent(), "follow", "second", 0, false);
    await("second waits");
    client.post("/v1/executor-jobs/" + first + "/cancel", null).expect(200);
    awaitSoon("second holds");
    await("second wrote", 20);
    assertEquals("cancelled", client.ended(first).path("state").asText());
    sink.enough();
    assertSucceeded(second);
    assertNothingOfTheFirstIsAfter("second");
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests kill and stop pods")
  void aHolderBeyondItsTimeOutWritesNothingMore() {
    String agent = agent("timeout", TIMEOUT_SECONDS);
    String first = submit(agent, "hold", "first", LONG_SECONDS, true);
    await("first wrote");
    String second = submit(agent(), "follow", "second", 0, false);
    awaitSoon("second holds");
    await("second wrote", 20);
    JsonNode ended = client.ended(first);
    assertEquals("deadline_exceeded", ended.path("reason").asText(), ended::toPrettyString);
    sink.enough();
    assertSucceeded(second);
    assertNothingOfTheFirstIsAfter("second");
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests kill and stop pods")
  void aLockIsFreeWhenItsExecutionHasEndedAndNotToBeHadBefore() {
    String agent = agent();
    String first = submit(agent, "leave", "first", LONG_SECONDS, false);
    await("first holds");
    JsonNode waits =
        client
            .ended(submit(agent, "give_up", "third", 0, false))
            .path("execution")
            .path("return_value");
    assertTrue(waits.path(1).asDouble(0) >= 0.4, waits.toString());
    assertTrue(waits.path(1).asDouble() < LONGEST_WAIT_SECONDS, waits.toString());
    String second = submit(agent, "follow", "second", 0, false);
    await("second waits");
    assertFalse(told("second holds"));
    sink.enough();
    assertSucceeded(first);
    awaitSoon("second holds");
    assertSucceeded(second);
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests kill and stop pods")
  void aReadAndAWriteUnderALockAreOne() {
    String agent = agent();
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      jobs.add(submit(agent, "add", "adder", 0, false));
    }
    jobs.forEach(this::assertSucceeded);
    assertEquals("60", client.get("/v1/datastore/" + store + "/entries/sum").expect(200).text());
  }

  private String agent(Object... settings) {
    List<Object> all = new ArrayList<>(List.of("store_ids", List.of(store), "max_concurrency", 6));
    all.addAll(List.of(settings));
    return client.agent(StoreRun.script("locks.py"), all.toArray());
  }

  private String submit(String agent, String role, String name, int ttl, boolean stubborn) {
    String payload =
        "{\"sink\": %s, \"role\": \"%s\", \"name\": \"%s\", \"ttl\": %d, \"stubborn\": %s, \"rounds\": 10}";
    return client.submit(agent, payload.formatted(sink.address(), role, name, ttl, stubborn));
  }

  private void assertSucceeded(String job) {
    JsonNode ended = client.ended(job);
    assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
  }

  /** Versions grow with each change, and each write of the second was still there after it. */
  private void assertNothingOfTheFirstIsAfter(String second) {
    long last = versions("first").stream().mapToLong(version -> version).max().orElseThrow();
    long begin = versions(second).stream().mapToLong(version -> version).min().orElseThrow();
    assertTrue(last < begin, last + " of the first, then " + begin + " of the second");
    assertFalse(told(second + " overwritten"), () -> sink.lines().toString());
  }

  private List<Long> versions(String name) {
    return sink.lines().stream()
        .filter(line -> line.startsWith(name + " wrote "))
        .map(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
        .toList();
  }

  /** What one has told, without its name. */
  private List<String> events(String name) {
    return sink.lines().stream()
        .filter(line -> line.startsWith(name + " "))
        .map(line -> line.substring(name.length() + 1))
        .toList();
  }

  private boolean told(String event) {
    return sink.lines().stream().anyMatch(line -> line.startsWith(event));
  }

  private void await(String event) {
    await(event, 1);
  }

  private void awaitSoon(String event) {
    Eventually.until(event, SOON, () -> told(event));
  }

  private void await(String event, int more) {
    long before = more == 1 ? 0 : count(event);
    Eventually.until(event, () -> count(event) >= before + more);
  }

  private long count(String event) {
    return sink.lines().stream().filter(line -> line.startsWith(event)).count();
  }
}
