package dev.roost.rollout;

import dev.roost.api.Ids;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Rollouts in the database, in the caller's transaction. */
@ApplicationScoped
class RolloutRepository {
  /** Older rollouts are deleted when one is created. */
  private static final int KEPT = 100;

  private static final String ROLLOUT =
      """
      select r.id, r.state, r.automatic, r.message, r.created_at, r.finished_at, count(i.agent_id) as total,
        count(*) filter (where i.state = 'queued') as queued,
        count(*) filter (where i.state = 'building') as building,
        count(*) filter (where i.state = 'updated') as updated,
        count(*) filter (where i.state = 'failed') as failed,
        count(*) filter (where i.state = 'skipped') as skipped,
        count(*) filter (where i.state = 'undone') as undone
      from rollout r left join rollout_agent i on i.rollout_id = r.id
      where %s group by r.id order by r.id desc""";

  private static final Sql ONE = Sql.of(ROLLOUT.formatted("r.id = :id"));

  private static final Sql PAGE =
      Sql.of(
          """
          with page as (
            select id from rollout
            where (cast(:cursor as text) is null or id < :cursor) and state = any(:states)
            order by id desc limit :most)
          """
              + ROLLOUT.formatted("r.id in (select id from page)"));

  private static final Sql ITEMS =
      Sql.of(
          """
          select i.agent_id, a.name, i.state, i.from_builder_job_id, i.to_builder_job_id, i.message, i.updated_at
          from rollout_agent i join agent a on a.id = i.agent_id
          where i.rollout_id = :rollout and (cast(:cursor as text) is null or i.agent_id < :cursor)
            and i.state = any(:states)
          order by i.agent_id desc limit :most""");

  private static final Sql INSERT =
      Sql.of(
          """
          insert into rollout (id, state, automatic, created_at, finished_at)
          values (:id, case when :empty then 'completed' else 'running' end, :automatic, :now,
            case when :empty then cast(:now as timestamptz) end)""");

  private static final Sql ADD =
      Sql.of(
          """
          insert into rollout_agent (rollout_id, agent_id, state, from_builder_job_id, nonce, updated_at)
          values (:rollout, :agent, 'queued', :from, cast(:nonce as text), :now)""");

  private static final Sql FORGET =
      Sql.of(
          """
          delete from rollout where state in ('completed', 'undone') and id <= (
            select id from rollout order by id desc offset :kept limit 1)
          and not exists (select 1 from rollout_agent i where i.rollout_id = rollout.id
            and rollout.state = 'undone' and i.state in ('queued', 'building', 'updated'))""");

  private static final Sql MOVE =
      Sql.of(
          """
          update rollout set state = :to, message = cast(:message as text),
            finished_at = case when :to in ('completed', 'undone') then cast(:now as timestamptz) end
          where id = :id and state = any(:from)""");

  private static final Sql COMPLETE =
      Sql.of(
          """
          update rollout r set state = 'completed', finished_at = :now
          where r.state = 'running' and not exists (
            select 1 from rollout_agent i where i.rollout_id = r.id and i.state in ('queued', 'building'))""");

  private static final Sql OPEN_ITEMS =
      Sql.of(
          """
          select i.rollout_id, i.agent_id, i.state, i.from_builder_job_id, i.to_builder_job_id, i.nonce
          from rollout_agent i join rollout r on r.id = i.rollout_id
          where r.state = 'running' and i.state = :state
          order by i.rollout_id, i.agent_id desc limit :most""");

  private static final Sql TO_UNDO =
      Sql.of(
          """
          select i.rollout_id, i.agent_id, i.state, i.from_builder_job_id, i.to_builder_job_id, i.nonce
          from rollout_agent i join rollout r on r.id = i.rollout_id
          where r.state = 'undone' and i.state in ('queued', 'building', 'updated')
          order by i.rollout_id, i.agent_id desc limit :most""");

  private static final Sql HOLD =
      Sql.of("select state from rollout where id = :id and state = :state for share");

  private static final Sql CHANGE =
      Sql.of(
          """
          update rollout_agent set state = :to, to_builder_job_id = coalesce(cast(:job as text), to_builder_job_id),
            image_key = coalesce(cast(:key as text), image_key), message = cast(:message as text), updated_at = :now
          where rollout_id = :rollout and agent_id = :agent and state = :from""");

  private static final Sql TRIED =
      Sql.of(
          """
          select 1 as found from rollout_agent i join rollout r on r.id = i.rollout_id
          where i.agent_id = :agent and (
            i.image_key = :key and i.state in ('failed', 'undone')
            or i.state in ('queued', 'building') and r.state in ('running', 'paused'))
          limit 1""");

  private static final Sql UNKNOWN_AGENT =
      Sql.of(
          """
          select i.id from unnest(:ids) i (id)
          where not exists (select 1 from agent a where a.id = i.id and a.deleted_at is null)
          limit 1""");

  private final EntityManager entities;

  RolloutRepository(EntityManager entities) {
    this.entities = entities;
  }

  /**
   * An agent of a rollout, for the next step.
   *
   * @param to null: no BuilderJob was created yet
   * @param nonce null: build only if an input is newer
   */
  record Item(
      String rollout, String agent, RolloutAgentState state, String from, String to, String nonce) {
    static Item of(ResultSet row) throws SQLException {
      return new Item(
          row.getString("rollout_id"),
          row.getString("agent_id"),
          Code.parse(RolloutAgentState.class, row.getString("state")),
          row.getString("from_builder_job_id"),
          row.getString("to_builder_job_id"),
          row.getString("nonce"));
    }
  }

  /**
   * An agent to include in a new rollout.
   *
   * @param builderJob that the agent runs on
   * @param nonce or null
   */
  record Member(String agent, String builderJob, String nonce) {}

  /** Creates a rollout; without members, it is completed at once. */
  String make(boolean automatic, List<Member> members, Instant now) {
    String id = Ids.next("rollout");
    INSERT
        .with("id", id)
        .with("automatic", automatic)
        .with("empty", members.isEmpty())
        .with("now", now)
        .update(entities);
    for (Member member : members) {
      ADD.with("rollout", id)
          .with("agent", member.agent())
          .with("from", member.builderJob())
          .with("nonce", member.nonce())
          .with("now", now)
          .update(entities);
    }
    FORGET.with("kept", KEPT).update(entities);
    return id;
  }

  /** One of the identifiers that belong to no agent. */
  Optional<String> unknownAgent(Set<String> ids) {
    return UNKNOWN_AGENT
        .with("ids", ids.toArray(String[]::new))
        .first(entities, row -> row.getString("id"));
  }

  Optional<Rollout> find(String id) {
    return ONE.with("id", id).first(entities, RolloutRepository::rollout);
  }

  List<Rollout> page(List<RolloutState> states, String cursor, int limit) {
    return PAGE.with("cursor", cursor)
        .with("states", codes(states.isEmpty() ? EnumSet.allOf(RolloutState.class) : states))
        .with("most", limit + 1)
        .list(entities, RolloutRepository::rollout);
  }

  /**
   * @param states empty: all
   */
  List<Rollout.Item> items(
      String rollout, List<RolloutAgentState> states, String cursor, int limit) {
    return ITEMS
        .with("rollout", rollout)
        .with("states", codes(states.isEmpty() ? EnumSet.allOf(RolloutAgentState.class) : states))
        .with("cursor", cursor)
        .with("most", limit + 1)
        .list(
            entities,
            row ->
                new Rollout.Item(
                    row.getString("agent_id"),
                    row.getString("name"),
                    Code.parse(RolloutAgentState.class, row.getString("state")),
                    row.getString("from_builder_job_id"),
                    row.getString("to_builder_job_id"),
                    row.getString("message"),
                    Sql.instant(row, "updated_at")));
  }

  /** Changes a rollout's state; returns false when it is in none of the states {@code from}. */
  boolean move(String id, List<RolloutState> from, RolloutState to, String message, Instant now) {
    return MOVE.with("id", id)
            .with("from", codes(from))
            .with("to", to)
            .with("message", message)
            .with("now", now)
            .update(entities)
        == 1;
  }

  void complete(Instant now) {
    COMPLETE.with("now", now).update(entities);
  }

  /** The agents in this state in running rollouts, the oldest rollout first. */
  List<Item> open(RolloutAgentState state, int most) {
    return OPEN_ITEMS.with("state", state).with("most", most).list(entities, Item::of);
  }

  /** The agents in undone rollouts that are not undone yet. */
  List<Item> toUndo(int most) {
    return TO_UNDO.with("most", most).list(entities, Item::of);
  }

  /**
   * Locks the rollout in this state until the transaction ends; returns false if it is in another
   * state.
   */
  boolean hold(String rollout, RolloutState state) {
    return HOLD.with("id", rollout)
        .with("state", state)
        .first(entities, row -> row.getString("state"))
        .isPresent();
  }

  /**
   * @param job that was created for the agent, or null
   * @param imageKey of the job, or null
   * @param message or null
   */
  void change(
      Item item, RolloutAgentState to, String job, String imageKey, String message, Instant now) {
    CHANGE
        .with("rollout", item.rollout())
        .with("agent", item.agent())
        .with("from", item.state())
        .with("to", to)
        .with("job", job)
        .with("key", imageKey)
        .with("message", message)
        .with("now", now)
        .update(entities);
  }

  /**
   * Whether an open rollout includes the agent, or its update to this image key failed or was
   * undone: then no automatic rollout includes the agent.
   */
  boolean isTried(String agent, String imageKey) {
    return TRIED
        .with("agent", agent)
        .with("key", imageKey)
        .first(entities, row -> row.getInt("found"))
        .isPresent();
  }

  private static String[] codes(Collection<? extends Code> constants) {
    return Code.of(constants).toArray(String[]::new);
  }

  private static Rollout rollout(ResultSet row) throws SQLException {
    return new Rollout(
        row.getString("id"),
        Code.parse(RolloutState.class, row.getString("state")),
        row.getBoolean("automatic"),
        row.getString("message"),
        new Rollout.Counts(
            row.getInt("total"),
            row.getInt("queued"),
            row.getInt("building"),
            row.getInt("updated"),
            row.getInt("failed"),
            row.getInt("skipped"),
            row.getInt("undone")),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "finished_at"));
  }
}
