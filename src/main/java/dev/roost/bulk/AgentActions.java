package dev.roost.bulk;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.agent.Agents;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import dev.roost.execution.ExecutorJobs;
import dev.roost.schedule.ScheduleState;
import dev.roost.schedule.Schedules;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** Does one thing to many agents, each in a transaction of its own. */
@ApplicationScoped
class AgentActions {
  private static final Sql READ =
      Sql.of(
          """
          select a.id, a.name,
            (select count(*) from executor_job j where j.agent_id = a.id and j.state in ('queued', 'running'))
            + (select count(*) from executor_job j where j.agent_id = a.id and j.state = 'suspended') as jobs,
            array(select s.id from schedule s where s.agent_id = a.id and s.state = 'active' order by s.id) as active,
            array(select s.id from schedule s where s.agent_id = a.id and s.state = 'paused' order by s.id) as paused,
            array(select t.tag from agent_tag t where t.agent_id = a.id) as tags
          from agent a where a.id = any(:ids) and a.deleted_at is null""");

  private final EntityManager entities;
  private final Agents agents;
  private final ExecutorJobs jobs;
  private final Schedules schedules;

  AgentActions(EntityManager entities, Agents agents, ExecutorJobs jobs, Schedules schedules) {
    this.entities = entities;
    this.agents = agents;
    this.jobs = jobs;
    this.schedules = schedules;
  }

  /** What is done to the agents. */
  @Schema(name = "AgentAction")
  public enum Action implements Code {
    RUN(Role.EXECUTE),
    TAG(Role.WRITE),
    UNTAG(Role.WRITE),
    PAUSE_SCHEDULES(Role.WRITE),
    RESUME_SCHEDULES(Role.WRITE),
    DELETE(Role.WRITE);

    private final Role role;

    Action(Role role) {
      this.role = role;
    }

    Role role() {
      return role;
    }

    boolean tags() {
      return this == TAG || this == UNTAG;
    }

    boolean switches() {
      return this == PAUSE_SCHEDULES || this == RESUME_SCHEDULES;
    }

    @Override
    @JsonValue
    public String code() {
      return Code.of(this);
    }
  }

  /**
   * @param tags for TAG and UNTAG
   * @param scheduleIds for PAUSE_SCHEDULES and RESUME_SCHEDULES: only these; empty: all
   * @param payload for RUN; or null
   * @param idempotencyKey for RUN; or null
   */
  record Request(
      Action action,
      List<String> agentIds,
      List<String> tags,
      List<String> scheduleIds,
      JsonText payload,
      String idempotencyKey) {}

  /** An agent before the action. */
  private record Before(
      String id,
      String name,
      int jobs,
      List<String> active,
      List<String> paused,
      List<String> tags) {
    static Before read(ResultSet row) throws SQLException {
      return new Before(
          row.getString("id"),
          row.getString("name"),
          row.getInt("jobs"),
          strings(row, "active"),
          strings(row, "paused"),
          strings(row, "tags"));
    }

    private static List<String> strings(ResultSet row, String column) throws SQLException {
      return List.of((String[]) row.getArray(column).getArray());
    }
  }

  /** What the action would do, as far as that is known before. */
  ActionResult.All preview(Request request) {
    Map<String, Before> before = read(request.agentIds());
    return ActionResult.All.of(
        request.agentIds().stream()
            .map(id -> before.containsKey(id) ? expected(request, before.get(id)) : absent(id))
            .toList());
  }

  ActionResult.All run(Request request) {
    Map<String, Before> before = read(request.agentIds());
    List<ActionResult> results = new ArrayList<>();
    for (String id : request.agentIds()) {
      if (!before.containsKey(id)) {
        results.add(absent(id));
        continue;
      }
      try {
        results.add(run(request, before.get(id)));
      } catch (Problem problem) {
        if (isForAll(problem)) {
          throw problem;
        }
        results.add(ActionResult.failed(id, before.get(id).name(), problem));
      }
    }
    return ActionResult.All.of(results);
  }

  /** Whether the other agents would get the same problem, and the request is better repeated. */
  private static boolean isForAll(Problem problem) {
    return problem.code() == ErrorCode.UNAVAILABLE;
  }

  private static ActionResult expected(Request request, Before agent) {
    return switch (request.action()) {
      case RUN -> ActionResult.changed(agent.id(), agent.name(), true);
      case TAG ->
          ActionResult.changed(agent.id(), agent.name(), !agent.tags().containsAll(request.tags()));
      case UNTAG ->
          ActionResult.changed(
              agent.id(), agent.name(), request.tags().stream().anyMatch(agent.tags()::contains));
      case PAUSE_SCHEDULES -> switched(request, agent, agent.active());
      case RESUME_SCHEDULES -> switched(request, agent, agent.paused());
      case DELETE -> ActionResult.deleted(agent.id(), agent.name(), agent.jobs());
    };
  }

  private static ActionResult switched(Request request, Before agent, List<String> schedules) {
    List<String> only = request.scheduleIds();
    return ActionResult.schedules(
        agent.id(),
        agent.name(),
        schedules.stream().filter(id -> only.isEmpty() || only.contains(id)).toList());
  }

  private ActionResult run(Request request, Before agent) {
    String id = agent.id();
    return switch (request.action()) {
      case RUN -> {
        ExecutorJobs.Submitted job = jobs.submit(id, request.payload(), request.idempotencyKey());
        yield ActionResult.started(id, agent.name(), job.executorJobId());
      }
      case TAG -> ActionResult.changed(id, agent.name(), agents.tag(id, request.tags(), true));
      case UNTAG -> ActionResult.changed(id, agent.name(), agents.tag(id, request.tags(), false));
      case PAUSE_SCHEDULES ->
          ActionResult.schedules(
              id,
              agent.name(),
              schedules.switchAll(id, request.scheduleIds(), ScheduleState.PAUSED));
      case RESUME_SCHEDULES ->
          ActionResult.schedules(
              id,
              agent.name(),
              schedules.switchAll(id, request.scheduleIds(), ScheduleState.ACTIVE));
      case DELETE -> {
        agents.delete(id);
        yield ActionResult.deleted(id, agent.name(), agent.jobs());
      }
    };
  }

  private static ActionResult absent(String id) {
    return ActionResult.failed(id, null, Problem.notFound("agent", id));
  }

  private Map<String, Before> read(List<String> ids) {
    Map<String, Before> before = new HashMap<>();
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                READ.with("ids", ids.toArray(String[]::new))
                    .list(entities, Before::read)
                    .forEach(agent -> before.put(agent.id(), agent)));
    return before;
  }
}
