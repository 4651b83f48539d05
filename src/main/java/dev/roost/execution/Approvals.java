package dev.roost.execution;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.cluster.Signals;
import dev.roost.config.RoostConfig;
import dev.roost.db.Conditions;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.event.EventLog;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Questions that scripts ask people. A question is an entry of the job's history, whose outcome is
 * the decision.
 */
@ApplicationScoped
public class Approvals implements EventLog.Follower {
  static final int MOST_TITLE_CHARACTERS = 200;
  static final int MOST_COMMENT_CHARACTERS = 10_000;
  private static final int MOST_ASSIGNEES = 50;
  private static final int MOST_ASSIGNEE_CHARACTERS = 200;
  private static final double MOST_SECONDS = 1e9;

  private static final Sql SAVE =
      Sql.of(
          "with "
              + JobSteps.OWNER
              + """
              ,
              saved as (
                insert into executor_job_step (executor_job_id, seq, path, name, execution_id, attempts, seconds,
                  finished_at, kind, approval_id, until, total_bytes)
                select o.job, :seq, :path, :name, :execution, 1, 0, statement_timestamp(), 'approval', :id,
                  statement_timestamp() + cast(:timeout as float8) * interval '1 second', coalesce(b.total_bytes, 0)
                from owner o left join executor_job_step b on b.executor_job_id = o.job and b.seq = :seq - 1
                where :seq = 1 or b.seq is not null
                on conflict do nothing returning executor_job_id, finished_at, until),
              asked as (
                insert into approval (id, executor_job_id, seq, agent_id, title, details, form, assignees, state,
                  created_at, expires_at)
                select :id, s.executor_job_id, :seq, j.agent_id, :title, cast(:details as text), cast(:form as text),
                  :assignees, 'pending', s.finished_at, s.until
                from saved s join executor_job j on j.id = s.executor_job_id)
              select exists (select from saved) as saved, exists (select from owner) as granted""");

  private static final Sql FIND = Sql.of("select * from approval where id = :id");

  private static final Sql PENDING_OF_JOB =
      Sql.of(
          """
          select * from approval where executor_job_id = :job and state = 'pending' order by seq limit :most""");

  private static final Sql COUNT =
      Sql.of(
          """
          select count(*) as number from (
            select from approval where state = 'pending' and (cast(:agent as text) is null or agent_id = :agent)
            limit :most) pending""");

  /**
   * What suspends the job locks it, too: it sees the decision, or the decision sees it suspended.
   * What ends the wait by its timeout changes the entry.
   */
  private static final Sql LOCK =
      Sql.of(
          """
          select j.id from approval a join executor_job j on j.id = a.executor_job_id
          join executor_job_step s on s.executor_job_id = a.executor_job_id and s.seq = a.seq
          where a.id = :id for update of j, s""");

  private static final Sql DECIDE =
      Sql.of(
          """
          with decided as (
            update approval a set state = :state, decided_at = now(), decided_by = :by, comment = cast(:comment as text),
              value = cast(:value as text)
            from executor_job j, executor_job_step s
            where a.id = :id and a.state = 'pending' and (a.expires_at is null or a.expires_at > now())
              and j.id = a.executor_job_id and j.finished_at is null
              and s.executor_job_id = a.executor_job_id and s.seq = a.seq and s.result is null and s.error_type is null
            returning a.executor_job_id, a.seq),
          outcome as (
            update executor_job_step s set result = :result, seconds = extract(epoch from now() - s.finished_at),
              finished_at = now()
            from decided d where s.executor_job_id = d.executor_job_id and s.seq = d.seq),
          resumed as (
            update executor_job j set resume_at = now() from decided d
            where j.id = d.executor_job_id and j.state = 'suspended')
          select count(*) as decided from decided""");

  private static final Sql CANCEL =
      Sql.of(
          """
          update approval a set state = 'cancelled', decided_at = now()
          where a.state = 'pending' and a.executor_job_id in (
            select e.subject from event e
            where e.position between :first and :last and e.type = any(:types))""");

  private final Database database;
  private final RoostConfig config;
  private final Storage storage;
  private final ObjectMapper mapper;
  private final JobSteps steps;
  private final SuspendedJobs suspended;
  private final Signals signals;

  Approvals(
      Database database,
      RoostConfig config,
      Storage storage,
      ObjectMapper mapper,
      JobSteps steps,
      SuspendedJobs suspended,
      Signals signals) {
    this.database = database;
    this.config = config;
    this.storage = storage;
    this.mapper = mapper;
    this.steps = steps;
    this.suspended = suspended;
    this.signals = signals;
  }

  /** A script asks. */
  Object ask(String executorId, String executionId, Body body) {
    JobSteps.Place place = steps.place(body);
    String title = JobSteps.text(body, "title", MOST_TITLE_CHARACTERS).orElse(null);
    Optional<JsonText> details = body.json("details");
    Optional<JsonText> form = body.json("form");
    List<String> assignees = body.strings("assignees").orElse(List.of());
    Double timeout = body.number("timeout", 0, MOST_SECONDS).orElse(null);
    int sizeBytes = body.sizeBytes("details") + body.sizeBytes("form");
    body.require("title");
    if (assignees.size() > MOST_ASSIGNEES
        || assignees.stream().anyMatch(each -> each.length() > MOST_ASSIGNEE_CHARACTERS)) {
      body.reject(
          "assignees",
          "too_long",
          "There can be %d assignees, with %d characters each."
              .formatted(MOST_ASSIGNEES, MOST_ASSIGNEE_CHARACTERS));
    }
    form.map(text -> ApprovalForm.mistake(tree("/form", text)))
        .ifPresent(mistake -> body.reject("form", "invalid", mistake));
    body.check();
    ExecuteResource.checkSize("details", sizeBytes, config);
    storage.require(Storage.Area.PAYLOADS);
    Sql.Bound save =
        SAVE.with("execution", executionId)
            .with("executor", executorId)
            .with("seq", place.seq())
            .with("path", place.path())
            .with("name", place.name())
            .with("id", Ids.next("approval"))
            .with("title", title)
            .with("details", details.map(JsonText::text).orElse(null))
            .with("form", form.map(JsonText::text).orElse(null))
            .with("assignees", assignees.toArray(String[]::new))
            .with("timeout", timeout);
    steps.store(save, executionId, place.seq(), place.path(), 0);
    signals.fire(executionId);
    return Map.of();
  }

  /**
   * With exact numbers: as a double, 1e999 would be infinite.
   *
   * @throws Problem validation_failed: the text is JSON, but for example has a number of thousands
   *     of digits
   */
  private JsonNode tree(String pointer, JsonText json) {
    try {
      return mapper
          .reader()
          .with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .readTree(json.text());
    } catch (JsonProcessingException e) {
      throw Problem.invalid(
          pointer, "malformed_json", "This can't be read: " + e.getOriginalMessage());
    }
  }

  /**
   * Filters the list; null or empty: no filter.
   *
   * @param assignee only those that ask this one
   */
  record Filter(List<ApprovalState> states, String agentId, String executorJobId, String assignee) {
    private Conditions conditions() {
      return new Conditions()
          .in("state", states)
          .and("agent_id = :agent", "agent", agentId)
          .and("executor_job_id = :job", "job", executorJobId)
          .and(":assignee = any(assignees)", "assignee", assignee);
    }
  }

  /** The newest before the cursor: up to {@code limit + 1}. */
  List<Approval> page(Filter filter, String cursor, int limit) {
    Conditions conditions = filter.conditions().and("id < :cursor", "cursor", cursor);
    Sql.Bound select =
        conditions
            .bind(
                "select * from approval where %s order by id desc limit :most"
                    .formatted(conditions.text()))
            .with("most", limit + 1);
    return database.once(connection -> select.list(connection, Approval::read));
  }

  /** What the script of a job asks now, in the order in which it has asked. */
  public List<Approval> pendingOfJob(String jobId, int most) {
    Sql.Bound select = PENDING_OF_JOB.with("job", jobId).with("most", most);
    return database.once(connection -> select.list(connection, Approval::read));
  }

  /** The number of pending ones, up to {@code most}. */
  int pending(String agentId, int most) {
    Sql.Bound count = COUNT.with("agent", agentId).with("most", most);
    return database
        .once(connection -> count.first(connection, row -> row.getInt("number")))
        .orElseThrow();
  }

  /**
   * @throws Problem not_found
   */
  public Approval find(String id) {
    return database
        .once(connection -> FIND.with("id", id).first(connection, Approval::read))
        .orElseThrow(() -> Problem.notFound("Approval", id));
  }

  /**
   * A decision.
   *
   * @param by the name of who decides
   * @param comment or null
   * @param value what was filled in; null if nothing was
   */
  public record Decision(boolean approved, String by, String comment, JsonText value) {
    /** What the script gets, with the exact text of the value. */
    String result(ObjectMapper mapper) {
      try {
        return mapper.writeValueAsString(this);
      } catch (JsonProcessingException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /**
   * Decides. A decision that is repeated in the same way has no further effect.
   *
   * @throws Problem not_found, validation_failed: the form isn't filled in correctly; conflict: it
   *     is not pending
   */
  public Approval decide(String id, Decision decision) {
    check(find(id), decision);
    String result = decision.result(mapper);
    String state = (decision.approved() ? ApprovalState.APPROVED : ApprovalState.REJECTED).code();
    boolean decided =
        database.inTransaction(
            connection -> {
              LOCK.with("id", id).strings(connection);
              return DECIDE
                      .with("id", id)
                      .with("state", state)
                      .with("by", decision.by())
                      .with("comment", decision.comment())
                      .with("value", decision.value() == null ? null : decision.value().text())
                      .with("result", result)
                      .first(connection, row -> row.getInt("decided"))
                      .orElseThrow()
                  == 1;
            });
    Approval now = find(id);
    if (decided) {
      suspended.wake();
    } else if (!now.state().code().equals(state) || !decision.by().equals(now.decidedBy())) {
      throw Problem.of(
          ErrorCode.CONFLICT,
          now.state() == ApprovalState.PENDING
              ? "The approval can't be decided any more: its time is over, or its job has ended."
              : "The approval is %s already%s."
                  .formatted(
                      now.state().code(),
                      now.decidedBy() == null ? "" : ", by " + now.decidedBy()));
    }
    return now;
  }

  private void check(Approval approval, Decision decision) {
    JsonText form = approval.form();
    if (decision.value() != null && (form == null || !decision.approved())) {
      throw Problem.invalid(
          "/value",
          "unknown_field",
          form == null ? "This approval has no form." : "A rejection fills in nothing.");
    }
    if (form != null && decision.approved()) {
      JsonNode value =
          decision.value() == null ? mapper.createObjectNode() : tree("/value", decision.value());
      List<Problem.FieldError> mistakes =
          ApprovalForm.mistakes(tree("/form", form), value, "/value");
      if (!mistakes.isEmpty()) {
        throw Problem.invalid(mistakes);
      }
    }
  }

  /** Nobody needs to decide for a job that has ended. */
  @Override
  public void placed(Connection connection, long first, long last) throws SQLException {
    CANCEL.with("first", first).with("last", last).with("types", Callers.ENDS).update(connection);
  }
}
