package dev.roost.start;

import dev.roost.agent.AgentRequest;
import dev.roost.agent.Agents;
import dev.roost.api.JsonText;
import dev.roost.api.Storage;
import dev.roost.builds.Build;
import dev.roost.builds.BuilderJob;
import dev.roost.cluster.Ready;
import dev.roost.cluster.Waiting;
import dev.roost.config.RoostConfig;
import dev.roost.db.Sql;
import dev.roost.execution.Execution;
import dev.roost.execution.ExecutorJob;
import dev.roost.execution.ExecutorJobs;
import dev.roost.log.LogEntry;
import dev.roost.log.LogRepository;
import dev.roost.runtime.Runtime;
import dev.roost.state.BuilderJobState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.persistence.EntityManager;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/**
 * Shows on the first start that everything works: creates, builds and executes an agent, and prints
 * the results.
 */
@ApplicationScoped
public class Welcome {
  private static final Sql MARK =
      Sql.of("insert into setting (name, value) values (:name, 'true') on conflict do nothing");

  private static final String REQUIREMENTS = "humanize==4.13.0";
  private static final Duration TIMEOUT = Duration.ofMinutes(3);
  private static final String DONE = "welcome_done";

  private final Agents agents;
  private final ExecutorJobs jobs;
  private final Storage storage;
  private final Runtime runtime;
  private final RoostConfig config;
  private final Waiting waiting;
  private final LogRepository log;
  private final EntityManager entities;

  Welcome(
      Agents agents,
      ExecutorJobs jobs,
      Storage storage,
      Runtime runtime,
      RoostConfig config,
      Waiting waiting,
      LogRepository log,
      EntityManager entities) {
    this.agents = agents;
    this.jobs = jobs;
    this.storage = storage;
    this.runtime = runtime;
    this.config = config;
    this.waiting = waiting;
    this.log = log;
    this.entities = entities;
  }

  /** Runs only on the first start. Blocks until the agent has run. */
  void show(@Observes Ready ready) {
    PrintStream out = ready.out();
    String full = storage.usage().full();
    if (full != null) {
      out.println("Storage is full. " + full);
      return;
    }
    if (!config.welcome() || !isFirstStart()) {
      return;
    }
    String python = runtime.describe().defaultPythonVersion();
    out.println("Welcome. The first agent: Python " + python + ", requirements " + REQUIREMENTS);
    String agentId = agents.create(AgentRequest.of("welcome", script(), REQUIREMENTS));
    BuilderJob job = awaitBuild(agentId);
    if (job.state != BuilderJobState.SUCCEEDED) {
      out.println("  build         " + job.state.code() + ": " + indented(job.message));
      out.println("  The agent \"welcome\" exists. Save its requirements again to rebuild it.");
      return;
    }
    out.println("  build         " + describe(job));
    out.println("  sandbox       " + runtime.sandbox().mechanism() + processLimit());
    String jobId =
        jobs.submit(agentId, new JsonText("{\"name\": \"Roost\"}"), null).executorJobId();
    ExecutorJob.View result = awaitEnd(jobId);
    Execution.View execution = result.execution();
    if (execution != null) {
      for (LogEntry entry : read(execution.id())) {
        out.println("  log           " + entry.message());
      }
    }
    if (execution == null || execution.returnValue() == null) {
      out.println("  execution     " + result.state().code() + ": " + indented(result.message()));
    } else {
      out.println("  return value  " + execution.returnValue().text());
    }
  }

  private boolean isFirstStart() {
    return QuarkusTransaction.requiringNew()
        .call(() -> MARK.with("name", DONE).update(entities) == 1);
  }

  private BuilderJob awaitBuild(String agentId) {
    String id =
        QuarkusTransaction.requiringNew()
            .call(() -> BuilderJob.<BuilderJob>find("agentId", agentId).firstResult().id);
    return waiting
        .until(id, TIMEOUT, () -> Optional.of(job(id)).filter(BuilderJob::hasEnded), () -> job(id))
        .await()
        .indefinitely();
  }

  private static BuilderJob job(String id) {
    return QuarkusTransaction.requiringNew().call(() -> BuilderJob.findById(id));
  }

  private ExecutorJob.View awaitEnd(String id) {
    return waiting
        .until(
            id,
            TIMEOUT,
            () -> Optional.of(view(id)).filter(view -> view.finishedAt() != null),
            () -> view(id))
        .await()
        .indefinitely();
  }

  private static ExecutorJob.View view(String id) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                ExecutorJob.view(id, new ExecutorJob.Limits(null, Integer.MAX_VALUE, null))
                    .orElseThrow());
  }

  private Iterable<LogEntry> read(String executionId) {
    return QuarkusTransaction.requiringNew()
        .call(() -> log.read(executionId, 0, 100, LogRepository.Filter.NONE));
  }

  private static String describe(BuilderJob job) {
    if (job.reused) {
      return "reused";
    }
    Build build = QuarkusTransaction.requiringNew().call(() -> Build.findById(job.buildId));
    return "succeeded in %.1f s".formatted(build.durationSeconds);
  }

  private String processLimit() {
    Integer most = runtime.processLimit().maxProcesses();
    return most == null ? "" : ", at most " + most + " processes";
  }

  private static String script() {
    try (InputStream stream = Welcome.class.getResourceAsStream("/welcome/agent.py")) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String indented(String text) {
    return text == null ? "no message" : text.replace("\n", "\n                ");
  }
}
