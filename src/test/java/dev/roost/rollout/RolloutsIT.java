package dev.roost.rollout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.FiredEvents;
import dev.roost.FollowerDatabase;
import dev.roost.agent.Agent;
import dev.roost.agent.AgentChanged;
import dev.roost.agent.AgentRequest;
import dev.roost.agent.AgentRevision;
import dev.roost.agent.Agents;
import dev.roost.agent.OutdatedAgents;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.builds.Bases;
import dev.roost.builds.Build;
import dev.roost.builds.BuilderJob;
import dev.roost.builds.BuilderJobsChanged;
import dev.roost.cluster.Replicas;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Runtime;
import dev.roost.state.BuilderJobState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On a replica that doesn't lead, so that only the tests' own reconciler is at work. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class RolloutsIT {
  @Inject Agents agents;
  @Inject Rollouts rollouts;
  @Inject RolloutRepository repository;
  @Inject OutdatedAgents outdated;
  @Inject Bases bases;
  @Inject Runtime runtime;
  @Inject RoostConfig config;
  @Inject Replicas replicas;
  @Inject Clock clock;
  @Inject EntityManager entities;

  private final FiredEvents<AgentChanged> changes = new FiredEvents<>();
  private final List<String> made = new ArrayList<>();
  private RolloutReconciler reconciler;

  @BeforeEach
  void begin() {
    reconciler =
        new RolloutReconciler(
            repository,
            outdated,
            bases,
            runtime,
            config,
            clock,
            new FiredEvents<BuilderJobsChanged>(),
            changes,
            replicas);
  }

  @AfterEach
  void end() {
    made.forEach(agents::delete);
    sql("delete from rollout");
  }

  /** Of a package that no other test has an agent with. */
  private static String unique(String version) {
    return "a" + UUID.randomUUID() + "==" + version;
  }

  /** Answers an agent that runs on a Build of an old base. */
  private String agent(String requirements) {
    String name = "agent " + UUID.randomUUID();
    String agent = agents.create(AgentRequest.of(name, "def main(): pass", requirements));
    made.add(agent);
    sql(
        "update builder_job set base = 'old base', image_key = id || '-old', state = 'queued', build_id = null where id = '%s'"
            .formatted(newestJob(agent)));
    succeed(newestJob(agent), "old base");
    return agent;
  }

  /** As the builder would. */
  private void succeed(String job, String base) {
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              BuilderJob row = BuilderJob.findById(job);
              Build build =
                  Build.<Build>find("imageKey", row.imageKey)
                      .firstResultOptional()
                      .orElseGet(Build::new);
              if (build.id == null) {
                build.id = Ids.next("build");
                build.imageKey = row.imageKey;
                build.pythonVersion = row.pythonVersion;
                build.base = base;
                build.packages = "[]";
                build.createdAt = Instant.now();
                build.persistAndFlush();
              }
              sql(
                  "update builder_job set state = 'succeeded', build_id = '%s', finished_at = now() where id = '%s'"
                      .formatted(build.id, job));
              BuilderJob.runNewest(job);
            });
  }

  private void sql(String statement) {
    if (QuarkusTransaction.isActive()) {
      entities.createNativeQuery(statement).executeUpdate();
    } else {
      QuarkusTransaction.requiringNew()
          .run(() -> entities.createNativeQuery(statement).executeUpdate());
    }
  }

  private static <T> T read(Supplier<T> supplier) {
    return QuarkusTransaction.requiringNew().call(supplier::get);
  }

  private static String builderJob(String agent) {
    return read(
        () -> {
          Agent row = Agent.findById(agent);
          return AgentRevision.of(agent, row.revisionToRun()).builderJobId;
        });
  }

  private Rollout get(String id) {
    return read(() -> repository.find(id).orElseThrow());
  }

  private Rollout.Item item(String rollout, String agent) {
    return read(() -> repository.items(rollout, List.of(), null, 200)).stream()
        .filter(item -> item.agentId().equals(agent))
        .findFirst()
        .orElseThrow();
  }

  /** What was made for the agent by the rollout. */
  private String newJob(String rollout, String agent) {
    String job = item(rollout, agent).toBuilderJobId();
    assertNotNull(job);
    return job;
  }

  private void succeedNew(String rollout, String agent) {
    succeed(newJob(rollout, agent), bases.current("3.13"));
  }

  private void fail(String job) {
    sql(
        ("update builder_job set state = 'failed', reason = 'build_from_source_failed', message = 'no wheel' "
                + "where id = '%s'")
            .formatted(job));
  }

  @Test
  void agentsUseTheirNewBuildOnceItIsCreatedAFewAtATime() {
    List<String> all = List.of(agent(unique("1")), agent(unique("1")), agent(""));
    String before = builderJob(all.get(0));
    Rollout rollout = rollouts.start(Set.of());
    assertEquals(RolloutState.RUNNING, rollout.state());
    assertEquals(3, rollout.agents().queued());

    reconciler.pass();
    assertEquals(new Rollout.Counts(3, 1, 2, 0, 0, 0, 0), get(rollout.id()).agents());
    reconciler.pass();
    assertEquals(2, get(rollout.id()).agents().building(), "no more than two at a time");
    assertEquals(before, builderJob(all.get(0)), "what is not built yet is not used");

    List<String> building =
        all.stream()
            .filter(one -> item(rollout.id(), one).state() == RolloutAgentState.BUILDING)
            .toList();
    building.forEach(one -> succeedNew(rollout.id(), one));
    reconciler.pass();
    for (String one : building) {
      assertEquals(newJob(rollout.id(), one), builderJob(one));
      assertTrue(changes.all().contains(new AgentChanged(one, 1)), "its executors should go");
    }
    all.stream()
        .filter(one -> !building.contains(one))
        .forEach(one -> succeedNew(rollout.id(), one));
    reconciler.pass();
    assertEquals(RolloutState.COMPLETED, get(rollout.id()).state());
    assertEquals(3, get(rollout.id()).agents().updated());
    assertEquals(List.of(), read(outdated::all));
  }

  @Test
  void anAgentThatCanNotBeBuiltKeepsWhatItHas() {
    String agent = agent(unique("1"));
    String before = builderJob(agent);
    Rollout rollout = rollouts.start(Set.of(agent));
    reconciler.pass();
    fail(newJob(rollout.id(), agent));
    reconciler.pass();
    assertEquals(before, builderJob(agent));
    assertEquals(RolloutAgentState.FAILED, item(rollout.id(), agent).state());
    assertEquals("no wheel", item(rollout.id(), agent).message());
    assertEquals(RolloutState.COMPLETED, get(rollout.id()).state());
  }

  @Test
  void afterManyFailuresAPersonShouldLook() {
    for (int i = 0; i < 5; i++) {
      agent(unique("1"));
    }
    Rollout rollout = rollouts.start(Set.of());
    for (int i = 0; i < 3; i++) {
      reconciler.pass();
      read(() -> repository.items(rollout.id(), List.of(RolloutAgentState.BUILDING), null, 200))
          .forEach(item -> fail(item.toBuilderJobId()));
    }
    assertEquals(RolloutState.PAUSED, get(rollout.id()).state());
    assertTrue(get(rollout.id()).message().contains("builds have failed"));
    assertTrue(get(rollout.id()).agents().queued() > 0);
    assertEquals(null, rollouts.resume(rollout.id()).message());
    reconciler.pass();
    assertEquals(RolloutState.RUNNING, get(rollout.id()).state());
  }

  @Test
  void whatIsPausedStandsStill() {
    String agent = agent(unique("1"));
    String before = builderJob(agent);
    Rollout rollout = rollouts.start(Set.of(agent));
    reconciler.pass();
    assertEquals(RolloutState.PAUSED, rollouts.pause(rollout.id()).state());
    assertEquals(RolloutState.PAUSED, rollouts.pause(rollout.id()).state(), "twice is once");
    succeedNew(rollout.id(), agent);
    reconciler.pass();
    assertEquals(before, builderJob(agent));
    rollouts.resume(rollout.id());
    reconciler.pass();
    assertNotEquals(before, builderJob(agent));
    Problem over = assertThrows(Problem.class, () -> rollouts.pause(rollout.id()));
    assertTrue(over.getMessage().contains("completed"), over.getMessage());
  }

  @Test
  void whatIsUndoneUsesTheBuildsOfBeforeAndDoesNotBeginAgain() {
    String updated = agent(unique("1"));
    String before = builderJob(updated);
    Rollout rollout = rollouts.start(Set.of(updated));
    reconciler.pass();
    succeedNew(rollout.id(), updated);
    reconciler.pass();
    assertNotEquals(before, builderJob(updated));

    String building = agent(unique("1"));
    Rollout second = rollouts.start(Set.of(building));
    reconciler.pass();
    rollouts.undo(rollout.id());
    rollouts.undo(second.id());
    reconciler.pass();
    assertEquals(before, builderJob(updated));
    assertEquals(RolloutAgentState.UNDONE, item(rollout.id(), updated).state());
    assertEquals(RolloutAgentState.UNDONE, item(second.id(), building).state());
    BuilderJob cancelled = read(() -> BuilderJob.findById(newJob(second.id(), building)));
    assertEquals(BuilderJobState.CANCELLED, cancelled.state);
    BuilderJob job = read(() -> BuilderJob.findById(before));
    String key = bases.inputs(job.pythonVersion, job.requirements, null).imageKey();
    assertTrue(read(() -> repository.isTried(updated, key)));
  }

  @Test
  void anAgentThatWasDeployedMeanwhileStaysAsItIs() {
    String queued = agent(unique("1"));
    String building = agent(unique("1"));
    Rollout rollout = rollouts.start(Set.of(queued, building));
    deploy(queued, unique("2"));
    succeed(newestJob(queued), bases.current("3.13"));
    String deployed = builderJob(queued);
    reconciler.pass();
    deploy(building, unique("2"));
    succeed(newestJob(building), bases.current("3.13"));
    String to = newJob(rollout.id(), building);
    read(() -> BuilderJob.update("state = 'succeeded' where id = ?1", to));
    reconciler.pass();
    assertEquals(RolloutAgentState.SKIPPED, item(rollout.id(), queued).state());
    assertEquals(deployed, builderJob(queued));
    assertEquals(RolloutState.COMPLETED, get(rollout.id()).state());
    assertNotEquals(to, builderJob(building));
  }

  private void deploy(String agent, String requirements) {
    Agent row = read(() -> Agent.findById(agent));
    agents.update(agent, AgentRequest.of(row.name, "def main(): pass", requirements), null);
  }

  private static String newestJob(String agent) {
    return read(
        () -> {
          Agent row = Agent.findById(agent);
          return AgentRevision.of(agent, row.revision).builderJobId;
        });
  }

  @Test
  void aRebuildIsCreatedThoughNothingIsNewer() {
    String agent = agent(unique("1"));
    Rollout first = rollouts.start(Set.of(agent));
    reconciler.pass();
    succeedNew(first.id(), agent);
    reconciler.pass();
    String current = builderJob(agent);

    Rollout rollout = rollouts.rebuild(agent);
    reconciler.pass();
    BuilderJob again = read(() -> BuilderJob.findById(newJob(rollout.id(), agent)));
    BuilderJob before = read(() -> BuilderJob.findById(current));
    assertNotEquals(before.imageKey, again.imageKey);
    assertEquals(before.requirements, again.requirements);
    succeed(again.id, bases.current("3.13"));
    reconciler.pass();
    assertEquals(again.id, builderJob(agent));
    // The Build that is the agent's own is not taken for an old one.
    assertEquals(List.of(), read(outdated::all));
  }

  @Test
  void aRebuildTriesAgainWhatFailed() {
    String name = "agent " + UUID.randomUUID();
    String agent = agents.create(AgentRequest.of(name, "def main(): pass", unique("1")));
    made.add(agent);
    Problem early = assertThrows(Problem.class, () -> rollouts.rebuild(agent));
    assertTrue(early.getMessage().contains("being built"), early.getMessage());
    fail(newestJob(agent));
    Rollout rollout = rollouts.rebuild(agent);
    reconciler.pass();
    succeedNew(rollout.id(), agent);
    reconciler.pass();
    assertEquals(newJob(rollout.id(), agent), builderJob(agent));
    Agent row = read(() -> Agent.findById(agent));
    assertEquals(1, row.runningRevision);
  }

  @Test
  void whereNothingIsOutdatedThereIsNothingToDo() {
    assertEquals(RolloutState.COMPLETED, rollouts.start(Set.of()).state());
    assertThrows(Problem.class, () -> rollouts.start(Set.of("agent_of_nobody")));
    assertThrows(Problem.class, () -> rollouts.undo("rollout_of_nobody"));
  }
}
