package dev.roost.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.TestDatabase;
import dev.roost.TestRuntime;
import dev.roost.builds.Bases;
import dev.roost.builds.BuildInputs;
import dev.roost.builds.BuilderJob;
import dev.roost.builds.UnusedBuilds;
import dev.roost.db.Database;
import dev.roost.db.ThrottledBatches;
import dev.roost.executor.Rows;
import dev.roost.runtime.Requirements;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import dev.roost.state.BuilderJobState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class UnusedBuildsIT {
  private static final Instant NOW = Instant.parse("2026-06-01T00:00:00Z");
  private static final Instant LONG_AGO = NOW.minus(Duration.ofDays(60));
  private static final Instant BEFORE = NOW.minus(Duration.ofDays(30));
  private static final String IMAGE = "registry.example/agents@sha256:";

  @Inject Database database;
  @Inject Bases bases;
  private Rows rows;
  private ThrottledBatches batches;
  private final Removing runtime = new Removing();
  private UnusedBuilds builds;

  /** What it was asked to remove, and what it says to that. */
  private static final class Removing extends TestRuntime {
    final List<String> removed = new ArrayList<>();
    final Map<String, String> images = new HashMap<>();
    final Deque<Removal> answers = new ArrayDeque<>();
    final List<String> lying = new ArrayList<>();
    boolean away;
    int tidied;

    @Override
    public synchronized Removal deleteBuild(String imageKey, String image) {
      if (away) {
        throw new RuntimeUnavailable("it is away", null);
      }
      removed.add(imageKey);
      images.put(imageKey, image);
      return answers.isEmpty() ? Removal.DONE : answers.remove();
    }

    @Override
    public Set<String> builds(Instant since) {
      return Set.copyOf(lying);
    }

    @Override
    public boolean tidyUp() {
      tidied++;
      return true;
    }
  }

  @BeforeEach
  void begin() {
    rows = new Rows(database);
    batches = new ThrottledBatches(database, () -> true);
    builds = new UnusedBuilds(runtime);
  }

  @AfterEach
  void end() {
    rows.clear();
  }

  @Test
  void aBuildGoesThatNothingHasUsedSinceThen() {
    String unused = rows.build(LONG_AGO, null);
    rows.builderJob("agent_of_nobody", unused, LONG_AGO);
    rows.executor(unused, LONG_AGO, true);
    String ofDeletedAgent = rows.build(LONG_AGO, null);
    rows.agent(LONG_AGO, rows.builderJob("agent_of_nobody", ofDeletedAgent, LONG_AGO));

    String young = rows.build(NOW, null);
    String current = rows.build(LONG_AGO, null);
    rows.agent(null, rows.builderJob("agent_of_nobody", current, LONG_AGO));
    String earlier = rows.build(LONG_AGO, null);
    rows.agent(
        null,
        rows.builderJob("agent_of_nobody", earlier, LONG_AGO),
        rows.builderJob("agent_of_nobody", current, LONG_AGO));
    String running = rows.build(LONG_AGO, null);
    String runningJob = rows.builderJob("agent_of_nobody", running, LONG_AGO);
    String behind =
        rows.agent(null, runningJob, rows.builderJob("agent_of_nobody", current, LONG_AGO));
    rows.run("update agent set running_revision = 1 where id = ?", behind);
    String live = rows.build(LONG_AGO, null);
    rows.executor(live, LONG_AGO, false);
    String ran = rows.build(LONG_AGO, null);
    rows.executor(ran, NOW, true);
    String builtLately = rows.build(LONG_AGO, null);
    rows.builderJob("agent_of_nobody", builtLately, NOW);
    String waitedFor = rows.build(LONG_AGO, null);
    String agent =
        rows.agent(
            null,
            rows.builderJob("agent_of_nobody", waitedFor, LONG_AGO),
            rows.builderJob("agent_of_nobody", current, LONG_AGO));
    rows.run(
        """
        insert into executor_job (id, agent_id, agent_revision, state, created_at, not_before)
        values (?, ?, 1, 'queued', now(), now() + interval '1 hour')""",
        Rows.id("xjob", LONG_AGO),
        agent);

    String replaced = rows.build(LONG_AGO, null);
    rows.run("update build set replaced_at = now() where id = ?", replaced);
    String replacedBefore = rows.build(LONG_AGO, null);
    rows.run("update build set replaced_at = '2026-01-01' where id = ?", replacedBefore);

    builds.remove(batches, BEFORE, NOW);

    Set<String> gone = Set.of(Rows.key(unused), Rows.key(ofDeletedAgent), Rows.key(earlier));
    assertTrue(runtime.removed.containsAll(gone), runtime.removed::toString);
    for (String kept :
        List.of(young, current, running, live, ran, builtLately, waitedFor, replaced)) {
      assertNull(removedAt(kept), kept);
    }
    assertNotNull(removedAt(unused));
    assertNotNull(removedAt(replacedBefore));
    assertNull(removal(unused));
    assertEquals(1, runtime.tidied);
    int all = runtime.removed.size();
    builds.remove(batches, BEFORE, NOW);
    assertEquals(all, runtime.removed.size(), "once each");
    assertEquals(1, runtime.tidied);
  }

  @Test
  void anImageStaysThatIsTheBaseImageOrAnotherBuildsToo() {
    String own = rows.build(LONG_AGO, IMAGE + "1");
    String base = rows.build(LONG_AGO, "python@sha256:2");
    rows.run("update build set packages = '[]' where id = ?", base);
    String shared = rows.build(LONG_AGO, IMAGE + "3");
    rows.build(NOW, "other.example/agents@sha256:3");
    String first = rows.build(LONG_AGO.minusSeconds(1), IMAGE + "4");
    String second = rows.build(LONG_AGO, IMAGE + "4");

    builds.remove(batches, BEFORE, NOW);

    assertEquals(IMAGE + "1", runtime.images.get(Rows.key(own)));
    for (String without : List.of(base, shared, first)) {
      assertTrue(runtime.images.containsKey(Rows.key(without)), without);
      assertNull(runtime.images.get(Rows.key(without)), without);
    }
    assertEquals(IMAGE + "4", runtime.images.get(Rows.key(second)), "the last one takes it along");
  }

  @Test
  void aRemovalThatFailsIsTriedAgainNextTimeAndHoldsUpTheRest() {
    String failing = rows.build(LONG_AGO.minusSeconds(1), null);
    String next = rows.build(LONG_AGO, null);
    runtime.answers.add(TestRuntime.Removal.GOING);
    runtime.answers.add(TestRuntime.Removal.failed("the registry is away"));

    builds.remove(batches, BEFORE, NOW);

    assertEquals("due", removal(failing));
    assertNotNull(removedAt(failing));
    assertNull(removedAt(next));

    builds.remove(batches, BEFORE, NOW);
    assertNull(removal(failing));
    assertNotNull(removedAt(next));
  }

  @Test
  void aRemovalThatACrashInterruptedIsFinished() {
    String interrupted = rows.build(LONG_AGO, null);
    runtime.away = true;
    assertThrows(RuntimeUnavailable.class, () -> builds.remove(batches, BEFORE, NOW));
    assertEquals("begun", removal(interrupted));
    assertThrows(RuntimeUnavailable.class, () -> builds.finishBegun(batches));
    assertEquals("begun", removal(interrupted));

    runtime.away = false;
    new UnusedBuilds(runtime).finishBegun(batches);
    assertNull(removal(interrupted));
    assertNotNull(removedAt(interrupted));
    assertEquals(List.of(Rows.key(interrupted)), runtime.removed);
  }

  @Test
  void rowsOfRemovedBuildsGoWhenNothingRefersToThem() {
    String gone = rows.build(LONG_AGO, null);
    String ofJob = rows.build(LONG_AGO, null);
    rows.builderJob("agent_of_nobody", ofJob, LONG_AGO);
    String ofExecutor = rows.build(LONG_AGO, null);
    rows.executor(ofExecutor, LONG_AGO, true);
    builds.remove(batches, BEFORE, NOW);
    String due = rows.build(LONG_AGO, null);
    rows.run("update build set removed_at = now(), removal = 'due' where id = ?", due);
    String living = rows.build(NOW, null);

    builds.deleteRows(batches);

    assertEquals(0, rows.count("build where id = ?", gone));
    for (String kept : List.of(ofJob, ofExecutor, due, living)) {
      assertEquals(1, rows.count("build where id = ?", kept));
    }
  }

  @Test
  void whatBelongsToNoBuildGoes() {
    String living = rows.build(NOW, null);
    String removed = rows.build(LONG_AGO, null);
    rows.run("update build set removed_at = now() where id = ?", removed);
    runtime.lying.addAll(List.of("of_an_older_format", Rows.key(living), Rows.key(removed)));

    builds.removeUnknown(batches, NOW);

    assertEquals(Set.of("of_an_older_format", Rows.key(removed)), Set.copyOf(runtime.removed));
  }

  /** A BuilderJob reuses a Build, or makes it again; never one that goes at the same moment. */
  @Test
  void whoeverReusesABuildKeepsItOrMakesItAgain() throws Exception {
    // By how many nanoseconds the creation begins before the removal: whoever has won begins later.
    long ahead = 0;
    int reused = 0;
    int removed = 0;
    CyclicBarrier together = new CyclicBarrier(2);
    Random random = new Random(1);
    for (int i = 0; i < 200; i++) {
      String build = rows.build(LONG_AGO, null);
      long later = Math.max(0, -ahead);
      CompletableFuture<BuilderJob> created =
          CompletableFuture.supplyAsync(
              () -> {
                meet(together);
                spin(later);
                return QuarkusTransaction.requiringNew().call(() -> createJob(build));
              });
      meet(together);
      spin(ahead);
      builds.remove(batches, BEFORE, NOW);
      BuilderJob job = created.get();
      if (job.state == BuilderJobState.SUCCEEDED) {
        reused++;
        ahead -= random.nextInt(4_000_000);
        assertNull(removedAt(build));
        assertEquals(build, job.buildId);
      } else {
        removed++;
        ahead += random.nextInt(4_000_000);
        assertNotNull(removedAt(build));
        rows.run("update builder_job set state = 'cancelled' where id = ?", job.id);
      }
      rows.run("delete from builder_job where id = ?", job.id);
      rows.run("delete from build where id = ?", build);
    }
    assertTrue(reused > 0 && removed > 0, reused + " reused, " + removed + " removed");
  }

  /** What it made would be removed as well. */
  @Test
  void noBuildBeginsWhileTheFormerOneIsBeingRemoved() {
    // What other tests have left would take the room.
    rows.run("update builder_job set state = 'cancelled' where state in ('queued', 'running')");
    BuildInputs inputs = bases.inputs("3.13", Requirements.of("going==1"), null);
    String going = rows.build(LONG_AGO, null);
    rows.run(
        "update build set removed_at = now(), removal = 'begun', image_key = ? where id = ?",
        inputs.imageKey(),
        going);
    BuilderJob waiting = QuarkusTransaction.requiringNew().call(() -> createJob(inputs));
    BuildInputs free = bases.inputs("3.13", Requirements.of("free==1"), null);
    BuilderJob other = QuarkusTransaction.requiringNew().call(() -> createJob(free));

    awaitState("running", other); // Whoever saw that one had seen the first one before.
    assertEquals("queued", state(waiting));
    rows.run("update builder_job set state = 'cancelled' where id = ?", other.id); // makes room
    rows.run("update build set removal = null where id = ?", going);
    awaitState("running", waiting);
  }

  private String state(BuilderJob job) {
    return rows.text("select state from builder_job where id = ?", job.id);
  }

  private void awaitState(String state, BuilderJob job) {
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (!state.equals(state(job))) {
      assertTrue(System.nanoTime() < deadline, job.id + " is " + state(job));
      batches.pause(Duration.ofMillis(20));
    }
  }

  @Test
  void aBuildThatSomebodyIsJustAboutToReuseStays() {
    String build = rows.build(LONG_AGO, null);
    BuilderJob job =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  BuilderJob made = createJob(build);
                  // Not committed yet, so nobody can see it.
                  CompletableFuture.runAsync(() -> builds.remove(batches, BEFORE, NOW)).join();
                  return made;
                });
    assertEquals(BuilderJobState.SUCCEEDED, job.state);
    assertNull(removedAt(build));
    builds.remove(batches, BEFORE, NOW);
    assertNull(removedAt(build));
  }

  private static BuilderJob createJob(String build) {
    return createJob(
        new BuildInputs("test-3.13", "3.13", Requirements.NONE, null, Rows.key(build)));
  }

  private static BuilderJob createJob(BuildInputs inputs) {
    return BuilderJob.create(
        new BuilderJob.Request("agent_of_nobody", 1, inputs), true, Instant.now());
  }

  private static void spin(long nanos) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < nanos) {
      Thread.onSpinWait();
    }
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private String removedAt(String build) {
    return rows.text("select removed_at from build where id = ?", build);
  }

  private String removal(String build) {
    return rows.text("select removal from build where id = ?", build);
  }
}
