package dev.roost.builds;

import dev.roost.api.Ids;
import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.Runtime.Removal;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jboss.logging.Logger;

/**
 * Removes Builds that nothing uses. A Build is first removed in the database, under a lock that new
 * uses of the Build share ({@code Build.ofKey}); from then on, an agent that needs the Build gets a
 * new one. Then the runtime removes the Build's image or environment. During that removal ({@code
 * removal = 'begun'}, also after a crash), no build of the same key starts, since its image or
 * environment would be removed as well.
 */
public final class UnusedBuilds {
  private static final Logger LOG = Logger.getLogger(UnusedBuilds.class);
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);
  public static final int LIMIT = 100;

  /** Nothing has used the Build {@code b} since {@code :before}, and nothing will use it. */
  private static final String UNUSED =
      """
      not exists (select 1 from builder_job j where j.build_id = b.id and j.finished_at >= :before)
      and not exists (
        select 1 from builder_job j where j.image_key = b.image_key and j.state in ('queued', 'running'))
      and (b.replaced_at is null or b.replaced_at < :before)
      and not exists (select 1 from executor x where x.build_id = b.id and x.ended_at >= :before)
      and not exists (select 1 from executor x where x.build_id = b.id and x.ended_at is null)
      and not exists (
        select 1 from builder_job j
        join agent_revision r on r.builder_job_id = j.id
        join agent a on a.id = r.agent_id and a.deleted_at is null
        where j.build_id = b.id and (r.revision in (a.revision, a.running_revision) or exists (
          select 1 from executor_job o
          where o.agent_id = r.agent_id and o.agent_revision = r.revision and o.state = 'queued')))
      and not exists (
        select 1 from builder_job j
        join agent_revision r on r.builder_job_id = j.id
        join executor_job o on o.agent_id = r.agent_id and o.agent_revision = r.revision and o.state = 'suspended'
        where j.build_id = b.id)""";

  public static final Sql FIND =
      Sql.of(
          """
          select b.id from build b where b.id > :after and b.id < :first and b.removed_at is null and %s
          order by b.id limit :limit"""
              .formatted(UNUSED));

  public static final Sql LOCK =
      Sql.of("select id from build where id = :id for update skip locked");

  public static final Sql REMOVE =
      Sql.of(
          """
          update build b set removed_at = :now, removal = 'begun'
          where b.id = :id and b.removed_at is null and %s"""
              .formatted(UNUSED));

  public static final Sql BEGIN_AGAIN =
      Sql.of(
          """
          update build b set removal = 'begun' where b.id = :id and b.removal = 'due' and not exists (
            select 1 from builder_job j where j.image_key = b.image_key and j.state in ('queued', 'running'))""");

  public static final Sql WITH_REMOVAL =
      Sql.of(
          "select id from build where removal = :removal and id > :after order by id limit :limit");

  /**
   * The image belongs to the Build when the Build has packages; otherwise it is the base image. An
   * image that another Build uses stays.
   */
  public static final Sql REMAINS =
      Sql.of(
          """
          select b.image_key, case when b.packages <> '[]' and not exists (
              select 1 from build o where o.removed_at is null
                and split_part(o.image, '@', 2) = split_part(b.image, '@', 2)) then b.image end as image
          from build b where b.id = :id and b.removal = 'begun'""");

  public static final Sql END =
      Sql.of(
          """
          update build set removal = cast(:removal as text) where id = :id and removal = 'begun'""");

  public static final Sql DELETE =
      Sql.of(
          """
          with old as (
            select b.id from build b
            where b.id > :after and b.removed_at is not null and b.removal is null
              and not exists (select 1 from builder_job j where j.build_id = b.id)
              and not exists (select 1 from executor x where x.build_id = b.id)
            order by b.id limit :limit for update skip locked)
          delete from build where id = any(array(select id from old)) returning id""");

  public static final Sql UNKNOWN =
      Sql.of(
          """
          select k from unnest(cast(:keys as text[])) k
          where not exists (select 1 from build b where b.image_key = k and (b.removed_at is null or b.removal is not null))
            and not exists (select 1 from builder_job j where j.image_key = k and j.state in ('queued', 'running'))""");

  private final Runtime runtime;
  private boolean toTidyUp;

  public UnusedBuilds(Runtime runtime) {
    this.runtime = runtime;
  }

  /** What the runtime has of a Build. */
  private record Remains(String imageKey, Optional<String> image) {
    static Remains of(ResultSet row) throws SQLException {
      return new Remains(row.getString("image_key"), Optional.ofNullable(row.getString("image")));
    }
  }

  /**
   * Finishes removals that had begun when their process ended or when the runtime was unavailable.
   *
   * @throws RuntimeUnavailable
   */
  public void finishBegun(ThrottledBatches batches) {
    for (String id : with(batches, RemovalState.BEGUN)) {
      finish(batches, id);
    }
  }

  /**
   * Removes the Builds that nothing has used since {@code before}, and retries failed removals.
   * After a failure the rest waits for the next pass, since it would most likely fail, too.
   *
   * @param now the time of the removal
   * @throws RuntimeUnavailable
   */
  public void remove(ThrottledBatches batches, Instant before, Instant now) {
    if (removeDue(batches)) {
      removeUnused(batches, before, now);
    }
    toTidyUp = toTidyUp && !runtime.tidyUp();
  }

  private boolean removeDue(ThrottledBatches batches) {
    for (String id : with(batches, RemovalState.DUE)) {
      Sql.Bound begin = BEGIN_AGAIN.with("id", id);
      if (batches.step(connection -> change(connection, id, begin)) && !finish(batches, id)) {
        return false;
      }
    }
    return true;
  }

  private void removeUnused(ThrottledBatches batches, Instant before, Instant now) {
    String after = "";
    List<String> found;
    do {
      Sql.Bound find =
          FIND.with("after", after)
              .with("first", Ids.first("build", before))
              .with("before", before)
              .with("limit", LIMIT);
      found = batches.step(connection -> find.strings(connection));
      for (String id : found) {
        Sql.Bound remove = REMOVE.with("id", id).with("before", before).with("now", now);
        if (batches.step(connection -> change(connection, id, remove)) && !finish(batches, id)) {
          return;
        }
        after = id;
      }
    } while (found.size() == LIMIT);
  }

  /** Removes what the runtime has had since then or longer and belongs to no Build. */
  public void removeUnknown(ThrottledBatches batches, Instant since) {
    Set<String> keys = runtime.builds(since);
    if (keys.isEmpty()) {
      return;
    }
    Sql.Bound unknown = UNKNOWN.with("keys", keys.toArray(String[]::new));
    for (String imageKey : batches.step(connection -> unknown.strings(connection))) {
      LOG.infof("removing %s, which belongs to no build", imageKey);
      await(batches, new Remains(imageKey, Optional.empty()));
    }
  }

  /** Deletes the rows of removed Builds that nothing refers to. */
  public void deleteRows(ThrottledBatches batches) {
    String after = "";
    List<String> deleted;
    do {
      Sql.Bound delete = DELETE.with("after", after).with("limit", LIMIT);
      deleted = batches.step(connection -> delete.strings(connection));
      after = deleted.stream().max(String::compareTo).orElse("");
    } while (deleted.size() == LIMIT);
  }

  private static List<String> with(ThrottledBatches batches, RemovalState removal) {
    List<String> all = new ArrayList<>();
    List<String> found;
    String after = "";
    do {
      Sql.Bound select =
          WITH_REMOVAL.with("removal", removal).with("after", after).with("limit", LIMIT);
      found = batches.step(connection -> select.strings(connection));
      all.addAll(found);
      after = found.isEmpty() ? "" : found.get(found.size() - 1);
    } while (found.size() == LIMIT);
    return all;
  }

  /**
   * Changes a Build unless it is just getting used: the second statement, under the lock, sees new
   * uses.
   */
  private static boolean change(Connection connection, String id, Sql.Bound change)
      throws SQLException {
    return !LOCK.with("id", id).strings(connection).isEmpty() && change.update(connection) == 1;
  }

  /**
   * Makes the runtime remove what it has of a Build.
   *
   * @return whether it is gone
   */
  private boolean finish(ThrottledBatches batches, String id) {
    Sql.Bound select = REMAINS.with("id", id);
    Optional<Remains> remains = batches.step(connection -> select.first(connection, Remains::of));
    if (remains.isEmpty()) {
      return true; // Another process has removed it.
    }
    LOG.infof("removing unused build %s: %s", id, remains.get());
    Removal end = await(batches, remains.get());
    boolean done = end.state() == Removal.State.DONE;
    toTidyUp |= done;
    Sql.Bound note = END.with("id", id).with("removal", done ? null : RemovalState.DUE);
    batches.step(note::update);
    if (!done) {
      LOG.warnf("build %s could not be removed; next attempt in an hour: %s", id, end.message());
    }
    return done;
  }

  private Removal await(ThrottledBatches batches, Remains remains) {
    while (true) {
      Removal removal = runtime.deleteBuild(remains.imageKey(), remains.image().orElse(null));
      if (removal.state() != Removal.State.GOING) {
        return removal;
      }
      batches.pause(BETWEEN_LOOKS);
    }
  }
}
