package dev.roost.agent;

import dev.roost.api.EntityTags;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.api.ReadableNames;
import dev.roost.api.Storage;
import dev.roost.builds.Bases;
import dev.roost.builds.BuildInputs;
import dev.roost.builds.BuildReason;
import dev.roost.builds.BuilderJob;
import dev.roost.builds.BuilderJobEnded;
import dev.roost.builds.BuilderJobsChanged;
import dev.roost.bundle.Bundles;
import dev.roost.config.RoostConfig;
import dev.roost.datastore.DataStore;
import dev.roost.db.Sql;
import dev.roost.runtime.Egress;
import dev.roost.runtime.Requirements;
import dev.roost.runtime.Runtime;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Creates, changes and deletes agents together with their BuilderJobs and stores. */
@ApplicationScoped
public class Agents {
  private static final Sql POINTLESS =
      Sql.of(
          """
          select j.id from builder_job j
          where j.agent_id = :agent and j.state in ('queued', 'running') and not exists (
            select 1 from executor_job x
            join agent_revision r on r.agent_id = x.agent_id and r.revision = x.agent_revision
            where r.builder_job_id = j.id and x.state = 'queued')
          and not exists (
            select 1 from executor_job x
            join agent_revision r on r.agent_id = x.agent_id and r.revision = x.agent_revision
            where r.builder_job_id = j.id and x.state = 'suspended')
          and not exists (
            select 1 from agent a
            join agent_revision r on r.agent_id = a.id and r.revision = a.running_revision
            where a.id = j.agent_id and r.builder_job_id = j.id)
          """);

  private final Runtime runtime;
  private final RoostConfig config;
  private final Bases bases;
  private final AgentBundles bundles;
  private final Storage storage;
  private final Clock clock;
  private final Event<AgentChanged> changed;
  private final Event<AgentDeletion> deletion;
  private final Event<BuilderJobsChanged> builderJobs;

  Agents(
      Runtime runtime,
      RoostConfig config,
      Bases bases,
      AgentBundles bundles,
      Storage storage,
      Clock clock,
      Event<AgentChanged> changed,
      Event<AgentDeletion> deletion,
      Event<BuilderJobsChanged> builderJobs) {
    this.runtime = runtime;
    this.config = config;
    this.bases = bases;
    this.bundles = bundles;
    this.storage = storage;
    this.clock = clock;
    this.changed = changed;
    this.deletion = deletion;
    this.builderJobs = builderJobs;
  }

  /**
   * @param given checked, with a script or a bundle
   * @return the new agent's identifier
   * @throws Problem conflict when the name or the tool name is taken, validation_failed for a store
   *     or a bundle that doesn't exist, storage_full
   */
  public String create(AgentRequest given) {
    storage.requireDisk();
    AgentRequest request = bundles.resolve(given, AgentBundles.Source.NONE).request();
    Instant now = clock.instant();
    String id =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  Agent agent = new Agent();
                  agent.id = Ids.next("agent");
                  agent.name = request.name().orElseGet(() -> ReadableNames.readable());
                  if (Agent.named(agent.name).isPresent()) {
                    throw AgentRequest.nameTaken(agent.name);
                  }
                  agent.revision = 1;
                  agent.timeoutSeconds = AgentDefaults.TIMEOUT_SECONDS;
                  agent.memoryMib = AgentDefaults.MEMORY_MIB;
                  agent.cpu = AgentDefaults.CPU;
                  agent.maxConcurrency = AgentDefaults.MAX_CONCURRENCY;
                  agent.concurrencyKeyScope = AgentDefaults.CONCURRENCY_KEY_SCOPE;
                  agent.maxAttempts = AgentDefaults.MAX_ATTEMPTS;
                  agent.retryDelaySeconds = AgentDefaults.RETRY_DELAY_SECONDS;
                  agent.neverRetry = new String[0];
                  agent.keepWarmSeconds = AgentDefaults.KEEP_WARM_SECONDS;
                  agent.isolation = AgentDefaults.ISOLATION;
                  agent.requestsPerProcess = AgentDefaults.REQUESTS_PER_PROCESS;
                  agent.createdAt = now;
                  agent.updatedAt = now;
                  setToolName(agent, request);
                  request.applySettings(agent);
                  SharedProcess.check(request, agent, request.script().orElseThrow());
                  bounds(request.profile().flatMap(profile -> profile).orElse(null))
                      .check(request, agent);
                  AgentRevision first = new AgentRevision();
                  first.agentId = agent.id;
                  first.revision = 1;
                  first.script = request.script().orElseThrow();
                  first.bundleId = request.bundleId().flatMap(bundle -> bundle).orElse(null);
                  first.scriptPath = request.scriptPath().flatMap(path -> path).orElse(null);
                  lockBundle(first);
                  first.requirements =
                      request.requirements().map(RequirementsText::text).orElse("");
                  first.envVars = request.envVars().orElse("");
                  first.pythonVersion =
                      request
                          .pythonVersion()
                          .orElseGet(() -> runtime.describe().defaultPythonVersion());
                  first.profile = request.profile().flatMap(profile -> profile).orElse(null);
                  first.egress = request.egress().orElse(AgentDefaults.EGRESS);
                  first.preload = request.preload().orElse(AgentDefaults.PRELOAD);
                  first.inputSchema = request.inputSchema().flatMap(schema -> schema).orElse(null);
                  first.outputSchema =
                      request.outputSchema().flatMap(schema -> schema).orElse(null);
                  first.createdAt = now;
                  first.builderJobId =
                      createBuilderJob(
                          first,
                          request
                              .requirements()
                              .map(RequirementsText::requirements)
                              .orElse(Requirements.NONE),
                          now);
                  runIfBuilt(agent, first);
                  agent.persist();
                  Agent.flush();
                  first.persist();
                  List<String> stores =
                      request
                          .storeIds()
                          .orElseGet(() -> List.of(DataStore.createNamedAfter(agent.name, now).id));
                  DataStore.use(agent.id, stores);
                  request.tags().ifPresent(tags -> AgentTags.set(agent.id, tags));
                  return agent.id;
                });
    builderJobs.fire(new BuilderJobsChanged());
    return id;
  }

  /**
   * Changes the fields in the request. A change of a field of {@link AgentRevision} creates a
   * revision; a change of requirements or Python version also creates a BuilderJob.
   *
   * @param ifMatch the header, or null
   * @throws Problem not_found, conflict, precondition_failed
   */
  public void update(String id, AgentRequest request, String ifMatch) {
    if (!AgentBundles.concerns(request)) {
      change(id, ifMatch, () -> request);
      return;
    }
    AgentBundles.Source current = QuarkusTransaction.requiringNew().call(() -> source(id, ifMatch));
    AgentBundles.Resolved resolved = bundles.resolve(request, current);
    change(
        id,
        ifMatch,
        () -> {
          resolved.requireSame(source(id, ifMatch));
          return resolved.request();
        });
  }

  private static AgentBundles.Source source(String id, String ifMatch) {
    Agent agent = Agent.require(id);
    EntityTags.requireMatch(ifMatch, agent.tag());
    return AgentBundles.Source.of(AgentRevision.of(id, agent.revision));
  }

  /** The bundle of a new revision may have been deleted since it was read. */
  private static void lockBundle(AgentRevision revision) {
    if (revision.bundleId != null && !Bundles.lock(Agent.getEntityManager(), revision.bundleId)) {
      throw Bundles.unknown("/bundle_id", revision.bundleId);
    }
  }

  /**
   * Restores the code and environment of an earlier revision.
   *
   * @param ifMatch the header, or null
   * @throws Problem not_found, precondition_failed, validation_failed
   */
  void rollBack(String id, int revision, String ifMatch) {
    change(
        id,
        ifMatch,
        () -> {
          AgentRevision earlier = AgentRevision.require(id, revision);
          if (!runtime.describe().pythonVersions().contains(earlier.pythonVersion)) {
            throw Problem.invalid(
                "/revision",
                "not_a_choice",
                "Revision %d used Python %s, which this Roost no longer offers."
                    .formatted(revision, earlier.pythonVersion));
          }
          runtime
              .refusal(earlier.profile, Egress.parse(earlier.egress))
              .ifPresent(
                  why -> {
                    throw Problem.invalid("/revision", "not_a_choice", why);
                  });
          return AgentRequest.of(earlier);
        });
  }

  /**
   * @param request evaluated within the transaction, after the agent is locked
   */
  private void change(String id, String ifMatch, Supplier<AgentRequest> request) {
    int revision =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  Agent agent = Agent.lock(id);
                  EntityTags.requireMatch(ifMatch, agent.tag());
                  apply(agent, request.get());
                  return agent.revisionToRun();
                });
    changed.fire(new AgentChanged(id, revision));
    builderJobs.fire(new BuilderJobsChanged());
  }

  private void apply(Agent agent, AgentRequest request) {
    Instant now = clock.instant();
    request
        .name()
        .filter(name -> !name.equals(agent.name))
        .ifPresent(
            name -> {
              if (Agent.named(name).isPresent()) {
                throw AgentRequest.nameTaken(name);
              }
              agent.name = name;
            });
    setToolName(agent, request);
    request.applySettings(agent);
    SharedProcess.check(
        request,
        agent,
        request.script().orElseGet(() -> AgentRevision.of(agent.id, agent.revision).script));
    bounds(profile(agent, request)).check(request, agent);
    request.storeIds().ifPresent(stores -> DataStore.use(agent.id, stores));
    request.tags().ifPresent(tags -> AgentTags.set(agent.id, tags));
    revise(agent, request, now);
    agent.touch(now);
  }

  /**
   * @throws Problem conflict
   */
  private static void setToolName(Agent agent, AgentRequest request) {
    request
        .toolName()
        .map(name -> name.orElse(null))
        .filter(name -> !name.equals(agent.toolName))
        .filter(name -> Agent.tool(name).isPresent())
        .ifPresent(
            name -> {
              throw AgentTool.nameTaken(name);
            });
    request.toolName().ifPresent(name -> agent.toolName = name.orElse(null));
  }

  /**
   * Adds tags to an agent, or removes them.
   *
   * @param tags from {@link AgentTags#read}
   * @return whether anything has changed
   * @throws Problem not_found, validation_failed if the agent would have too many
   */
  public boolean tag(String id, List<String> tags, boolean add) {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              Agent agent = Agent.lock(id);
              boolean changed = add ? AgentTags.add(id, tags) : AgentTags.remove(id, tags);
              if (changed) {
                agent.touch(clock.instant());
              }
              return changed;
            });
  }

  private AgentBounds bounds(String profile) {
    return AgentBounds.of(config.limits(), runtime, profile);
  }

  private static String profile(Agent agent, AgentRequest request) {
    return request
        .profile()
        .orElseGet(() -> Optional.ofNullable(AgentRevision.of(agent.id, agent.revision).profile))
        .orElse(null);
  }

  /** Ends all running and queued work of the agent; keeps its stores and its history. */
  public void delete(String id) {
    Instant now = clock.instant();
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              Agent agent = Agent.lock(id);
              agent.deletedAt = now;
              cancelBuilds(id, BuildReason.AGENT_DELETED, "The agent was deleted.", now);
              DataStore.use(id, List.of());
              deletion.fire(new AgentDeletion(id, now));
            });
    changed.fire(new AgentChanged(id, 0));
    builderJobs.fire(new BuilderJobsChanged());
  }

  private void revise(Agent agent, AgentRequest request, Instant now) {
    AgentRevision current = AgentRevision.of(agent.id, agent.revision);
    AgentRevision next = new AgentRevision();
    next.agentId = agent.id;
    next.revision = agent.revision + 1;
    next.script = request.script().orElse(current.script);
    next.bundleId = request.bundleId().orElse(Optional.ofNullable(current.bundleId)).orElse(null);
    next.scriptPath =
        request.scriptPath().orElse(Optional.ofNullable(current.scriptPath)).orElse(null);
    RequirementsText requirements =
        request.requirements().orElseGet(() -> RequirementsText.parse(current.requirements));
    next.requirements = requirements.text();
    next.envVars = request.envVars().orElse(current.envVars);
    next.pythonVersion = request.pythonVersion().orElse(current.pythonVersion);
    next.profile = profile(agent, request);
    next.egress = request.egress().orElse(current.egress);
    next.preload = request.preload().orElse(current.preload);
    next.inputSchema =
        request.inputSchema().orElse(Optional.ofNullable(current.inputSchema)).orElse(null);
    next.outputSchema =
        request.outputSchema().orElse(Optional.ofNullable(current.outputSchema)).orElse(null);
    next.createdAt = now;
    if (next.runsTheSameAs(current)) {
      if (request.requirements().isPresent() || request.pythonVersion().isPresent()) {
        buildAgain(current, requirements.requirements(), now);
        runIfBuilt(agent, current);
      }
      return;
    }
    next.takeHintsOf(current);
    lockBundle(next);
    boolean sameBuild =
        next.pythonVersion.equals(current.pythonVersion)
            && next.requirements.equals(current.requirements);
    if (!sameBuild) {
      supersede(agent.id, now);
    }
    next.builderJobId = current.builderJobId;
    if (sameBuild) {
      buildAgain(next, requirements.requirements(), now);
    } else {
      next.builderJobId = createBuilderJob(next, requirements.requirements(), now);
    }
    next.persist();
    agent.revision = next.revision;
    runIfBuilt(agent, next);
  }

  /**
   * Runs the newest revision at once when its build has already succeeded. A concurrent end of a
   * build waits for the agent's lock, and so sees this revision.
   */
  private static void runIfBuilt(Agent agent, AgentRevision newest) {
    if (BuilderJob.<BuilderJob>findById(newest.builderJobId).hasSucceeded()) {
      agent.runningRevision = newest.revision;
    }
  }

  /** The running revision may have changed, so executors of the previous revision should stop. */
  void built(@Observes BuilderJobEnded event) {
    Agent agent =
        QuarkusTransaction.requiringNew().call(() -> Agent.<Agent>findById(event.agentId()));
    if (agent != null && agent.deletedAt == null) {
      changed.fire(new AgentChanged(agent.id, agent.revisionToRun()));
    }
  }

  /**
   * Saving a revision whose build failed, for example during an outage of the package index, starts
   * another build.
   */
  private void buildAgain(AgentRevision revision, Requirements requirements, Instant now) {
    BuilderJob latest = BuilderJob.findById(revision.builderJobId);
    if (latest.hasFailed()) {
      revision.builderJobId = createBuilderJob(revision, requirements, now);
    }
  }

  private String createBuilderJob(AgentRevision revision, Requirements requirements, Instant now) {
    BuildInputs inputs = bases.inputs(revision.pythonVersion, requirements, null);
    BuilderJob.Request request =
        new BuilderJob.Request(revision.agentId, revision.revision, inputs);
    return BuilderJob.create(request, runtime.hasBuild(inputs.imageKey()), now).id;
  }

  /**
   * Cancels the builds of older revisions, except builds that a queued job waits for and a rebuild
   * of the running revision.
   */
  private static void supersede(String agentId, Instant now) {
    Agent.flush();
    for (String job : POINTLESS.with("agent", agentId).strings(Agent.getEntityManager())) {
      BuilderJob.cancel(
          job, BuildReason.SUPERSEDED, "A later change of the agent superseded this build.", now);
    }
  }

  private static void cancelBuilds(
      String agentId, BuildReason reason, String message, Instant now) {
    BuilderJob.<BuilderJob>list("agentId = ?1 and state in ('queued', 'running')", agentId)
        .forEach(job -> BuilderJob.cancel(job.id, reason, message, now));
  }
}
