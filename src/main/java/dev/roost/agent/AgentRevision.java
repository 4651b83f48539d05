package dev.roost.agent;

import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import java.io.Serializable;
import java.time.Instant;

/**
 * What runs: script, requirements, variables and Python version as they were from one change to the
 * next.
 */
@Entity(name = "agent_revision")
@IdClass(AgentRevision.Key.class)
public class AgentRevision extends PanacheEntityBase {
  @Id public String agentId;
  @Id public int revision;
  public String script;
  public String requirements;
  public String envVars;
  public String pythonVersion;

  /**
   * The BuilderJob whose Build this revision runs on; a revision that needs none shares that of the
   * one before.
   */
  public String builderJobId;

  public Instant createdAt;

  /** The primary key. */
  public record Key(String agentId, int revision) implements Serializable {}

  public static AgentRevision of(String agentId, int revision) {
    return findById(new Key(agentId, revision));
  }

  boolean runsTheSameAs(AgentRevision other) {
    return script.equals(other.script)
        && requirements.equals(other.requirements)
        && envVars.equals(other.envVars)
        && pythonVersion.equals(other.pythonVersion);
  }
}
