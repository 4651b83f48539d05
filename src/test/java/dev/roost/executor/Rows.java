package dev.roost.executor;

import dev.roost.api.Ids;
import dev.roost.db.Database;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/** Rows for tests of what is removed. Nothing else in the database refers to them. */
public final class Rows {
  private final Database database;
  private final List<String> agents = new ArrayList<>();
  private final List<String> builds = new ArrayList<>();
  private final List<String> builderJobs = new ArrayList<>();

  public Rows(Database database) {
    this.database = database;
  }

  public int run(String sql, Object... parameters) {
    return database.once(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
              statement.setObject(
                  i + 1,
                  parameters[i] instanceof Instant time
                      ? time.atOffset(ZoneOffset.UTC)
                      : parameters[i]);
            }
            return statement.execute() ? 0 : statement.getUpdateCount();
          }
        });
  }

  public long count(String query, Object... parameters) {
    return Long.parseLong(text("select count(*) from " + query, parameters));
  }

  /** The first column of the first row, or null. */
  public String text(String query, Object... parameters) {
    return database.once(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(query)) {
            for (int i = 0; i < parameters.length; i++) {
              statement.setObject(i + 1, parameters[i]);
            }
            try (ResultSet rows = statement.executeQuery()) {
              return rows.next() ? rows.getString(1) : null;
            }
          }
        });
  }

  /** An identifier as if it had been made then. */
  public static String id(String prefix, Instant madeAt) {
    String other = Ids.next(prefix);
    return Ids.first(prefix, madeAt).substring(0, prefix.length() + 11)
        + other.substring(prefix.length() + 11);
  }

  /** A job with one execution and so many lines of log. */
  public String job(String agent, Instant madeAt, String state, Instant finishedAt, int lines) {
    String id = id("xjob", madeAt);
    String execution = Ids.next("exec");
    run(
        """
        insert into executor_job (id, agent_id, agent_revision, state, created_at, finished_at)
        values (?, ?, 1, ?, ?, cast(? as timestamptz))""",
        id,
        agent,
        state,
        madeAt,
        finishedAt);
    run(
        """
        insert into execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, attempt, state,
          started_at, cold_start, queued_seconds)
        values (?, ?, ?, 1, 'build_', ?, 1, 'succeeded', ?, false, 0)""",
        execution,
        id,
        agent,
        "executor of " + id,
        madeAt);
    log(execution, lines);
    return id;
  }

  public void log(String owner, int lines) {
    run(
        """
        insert into log_entry (owner_id, seq, time, stream, message, continued)
        select ?, i, now(), 'stdout', 'line ' || i, false from generate_series(1, ?) i""",
        owner,
        lines);
  }

  /** Removes the agents, BuilderJobs and Builds that it made, and what refers to them. */
  public void clear() {
    for (String agent : agents) {
      run("delete from executor_job where agent_id = ?", agent);
      run("delete from agent_revision where agent_id = ?", agent);
      run("delete from agent where id = ?", agent);
    }
    builderJobs.forEach(job -> run("delete from builder_job where id = ?", job));
    for (String build : builds) {
      run("delete from executor where build_id = ?", build);
      run("delete from builder_job where image_key = ?", key(build));
      run("delete from build where id = ?", build);
    }
  }

  /** How many rows a job has in all tables together. */
  public long ofJob(String id) {
    return count("executor_job where id = ?", id)
        + count("execution where executor_job_id = ?", id)
        + count(
            "log_entry l join execution e on e.id = l.owner_id where e.executor_job_id = ?", id);
  }

  /** One that has ended when it was made, or runs. */
  public String executor(String build, Instant madeAt, boolean ended) {
    String id = id("executor", madeAt);
    run(
        """
        insert into executor (id, agent_id, agent_revision, build_id, state, lease_expires_at, created_at, ended_at)
        values (?, 'agent_of_nobody', 1, ?, ?, now() + interval '1 hour', ?, cast(? as timestamptz))""",
        id,
        build,
        ended ? "ended" : "ready",
        madeAt,
        ended ? madeAt : null);
    return id;
  }

  /** With packages, and an image if that isn't null. */
  public String build(Instant madeAt, String image) {
    String id = id("build", madeAt);
    builds.add(id);
    run(
        """
        insert into build (id, image_key, image, python_version, packages, size_bytes, duration_seconds, created_at)
        values (?, ?, cast(? as text), '3.13', '[{"name": "six"}]', 1, 1, ?)""",
        id,
        key(id),
        image,
        madeAt);
    return id;
  }

  public static String key(String build) {
    return "key_of_" + build;
  }

  /** One that has succeeded, with a line of log. */
  public String builderJob(String agent, String build, Instant finishedAt) {
    String id = id("bjob", finishedAt);
    builderJobs.add(id);
    run(
        """
        insert into builder_job (id, agent_id, agent_revision, python_version, requirements, image_key, state, build_id,
          created_at, finished_at)
        values (?, ?, 1, '3.13', '', ?, 'succeeded', cast(? as text), ?, ?)""",
        id,
        agent,
        build == null ? "key_of_nothing" : key(build),
        build,
        finishedAt,
        finishedAt);
    log(id, 1);
    return id;
  }

  /**
   * With a revision for each BuilderJob, the last of which is the current one.
   *
   * @param deletedAt or null
   */
  public String agent(Instant deletedAt, String... builderJobs) {
    String id = Ids.next("agent");
    agents.add(id);
    run(
        """
        insert into agent (id, name, revision, timeout_seconds, memory_mib, cpu, max_concurrency, max_attempts,
          retry_delay_seconds, keep_warm_seconds, isolation, created_at, updated_at, deleted_at)
        values (?, ?, ?, 1, 256, 1, 1, 1, 1, 1, 'process', now(), now(), cast(? as timestamptz))""",
        id,
        id,
        builderJobs.length,
        deletedAt);
    for (int i = 0; i < builderJobs.length; i++) {
      run(
          """
          insert into agent_revision (agent_id, revision, script, requirements, env_vars, python_version,
            builder_job_id, created_at)
          values (?, ?, 'def main(): pass', '', '', '3.13', ?, now())""",
          id,
          i + 1,
          builderJobs[i]);
    }
    return id;
  }
}
