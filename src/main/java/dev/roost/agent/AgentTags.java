package dev.roost.agent;

import dev.roost.api.Body;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.db.Conditions;
import dev.roost.db.Sql;
import jakarta.persistence.EntityManager;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The tags of agents: labels in lower case, in which slashes separate levels. A tag finds the
 * agents that have it or a tag below it: {@code team} also finds {@code team/crawlers}.
 */
public final class AgentTags {
  /** The description of the query parameter. */
  public static final String DESCRIPTION =
      "Only agents with this tag or a tag below it: team also finds team/crawlers. Several, "
          + "separated by commas: only agents with all of them";

  /** The maximum number of tags of an agent. */
  static final int MOST = 20;

  static final int MOST_CHARACTERS = 60;

  /** The maximum number of tags in a filter. */
  private static final int MOST_FILTERED = 5;

  /** The maximum number of tags that are listed. */
  private static final int MOST_LISTED = 1_000;

  private static final String LEVEL = "[\\p{Ll}\\p{Lo}\\p{N}][\\p{Ll}\\p{Lo}\\p{M}\\p{N}._:-]*";
  private static final Pattern FORM = Pattern.compile(LEVEL + "(?:/" + LEVEL + ")*+");

  private static final String FORM_IN_WORDS =
      "1 to %d lower-case letters, digits and . _ : - , beginning with a letter or digit; / separates levels"
          .formatted(MOST_CHARACTERS);

  private static final Sql DELETE =
      Sql.of("delete from agent_tag where agent_id = :agent and tag <> all(:tags)");

  private static final Sql REMOVE =
      Sql.of("delete from agent_tag where agent_id = :agent and tag = any(:tags)");

  private static final Sql INSERT =
      Sql.of(
          """
          insert into agent_tag (agent_id, tag) select :agent, tag from unnest(:tags) tag
          on conflict do nothing""");

  private static final Sql COUNT =
      Sql.of("select count(*) as count from agent_tag where agent_id = :agent");

  private static final Sql LIST =
      Sql.of(
          """
          select t.tag, count(*) as agents from agent_tag t join agent a on a.id = t.agent_id
          where a.deleted_at is null group by t.tag order by t.tag limit :most""");

  private static final Sql UNTAGGED =
      Sql.of(
          """
          select count(*) as agents from agent a
          where a.deleted_at is null and not exists (select from agent_tag t where t.agent_id = a.id)""");

  private AgentTags() {}

  /** A tag and how many agents have it. */
  @Schema(name = "AgentTag")
  public record Counted(
      @Schema(description = "The tag; / separates levels", examples = "team/crawlers") String tag,
      @Schema(description = "Agents with exactly this tag") long agents) {}

  /** All tags. */
  @Schema(name = "AgentTags")
  public record Overview(
      @Schema(description = "The tags of all agents by name, at most 1000") List<Counted> data,
      @Schema(description = "Whether there are more tags") boolean more,
      @Schema(description = "Agents without a tag") long untagged) {}

  /**
   * Reads and validates a list of tags.
   *
   * @return sorted, without duplicates
   */
  public static Optional<List<String>> read(Body body, String name) {
    Optional<List<String>> given = body.strings(name);
    List<String> tags = given.map(TreeSet::new).map(ArrayList::new).orElseGet(ArrayList::new);
    if (tags.size() > MOST) {
      body.reject(name, "too_many", "An agent can have at most " + MOST + " tags.");
      return Optional.empty();
    }
    for (String tag : tags) {
      if (!isValid(tag)) {
        body.reject(
            name,
            "invalid_tag",
            Text.quote(Text.beginning(tag, MOST_CHARACTERS))
                + " is not a tag: a tag has "
                + FORM_IN_WORDS
                + ".");
      }
    }
    return given.map(all -> tags);
  }

  static boolean isValid(String tag) {
    return tag.length() <= MOST_CHARACTERS && FORM.matcher(tag).matches();
  }

  /**
   * The tags of a filter.
   *
   * @param given the query parameter, or null
   * @return empty: no filter
   * @throws Problem validation_failed
   */
  static List<String> filter(String given) {
    if (given == null || given.isBlank()) {
      return List.of();
    }
    List<String> tags = Arrays.stream(given.split(",", -1)).map(String::strip).distinct().toList();
    if (tags.size() > MOST_FILTERED) {
      throw Problem.invalid("?tag", "too_many", "tag can have at most " + MOST_FILTERED + " tags.");
    }
    for (String tag : tags) {
      if (!isValid(tag)) {
        throw Problem.invalid("?tag", "invalid_tag", "A tag has " + FORM_IN_WORDS + ".");
      }
    }
    return tags;
  }

  /** Adds the conditions that an agent has all of these tags, or tags below them. */
  static Conditions having(Conditions conditions, String agentId, List<String> tags) {
    for (int i = 0; i < tags.size(); i++) {
      String parameter = "tag" + (char) ('A' + i);
      conditions.and(
          """
          %1$s in (select t.agent_id from agent_tag t
            where t.tag = :%2$s or t.tag >= :%2$s || '/' and t.tag < :%2$s || '0')"""
              .formatted(agentId, parameter),
          parameter,
          tags.get(i));
    }
    return conditions;
  }

  /** Gives the agent exactly these tags, in the caller's transaction. */
  static void set(String agentId, List<String> tags) {
    EntityManager entities = Agent.getEntityManager();
    String[] all = tags.toArray(String[]::new);
    DELETE.with("agent", agentId).with("tags", all).update(entities);
    INSERT.with("agent", agentId).with("tags", all).update(entities);
  }

  /**
   * Adds tags, in the transaction that has locked the agent.
   *
   * @return whether a tag is new
   * @throws Problem validation_failed if the agent would have too many
   */
  static boolean add(String agentId, List<String> tags) {
    EntityManager entities = Agent.getEntityManager();
    String[] all = tags.toArray(String[]::new);
    int added = INSERT.with("agent", agentId).with("tags", all).update(entities);
    int count = COUNT.with("agent", agentId).first(entities, row -> row.getInt("count")).orElse(0);
    if (count > MOST) {
      throw Problem.invalid("/tags", "too_many", "An agent can have at most " + MOST + " tags.");
    }
    return added > 0;
  }

  /**
   * @return whether the agent had one of the tags
   */
  static boolean remove(String agentId, List<String> tags) {
    return REMOVE
            .with("agent", agentId)
            .with("tags", tags.toArray(String[]::new))
            .update(Agent.getEntityManager())
        > 0;
  }

  /** The tags of all agents, in the caller's transaction. */
  static Overview overview() {
    EntityManager entities = Agent.getEntityManager();
    List<Counted> tags =
        LIST.with("most", MOST_LISTED + 1)
            .list(entities, row -> new Counted(row.getString("tag"), row.getLong("agents")));
    boolean more = tags.size() > MOST_LISTED;
    long untagged = UNTAGGED.with().first(entities, row -> row.getLong("agents")).orElse(0L);
    return new Overview(more ? tags.subList(0, MOST_LISTED) : tags, more, untagged);
  }
}
