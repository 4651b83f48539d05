package dev.roost.datastore;

import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.NameSearch;
import dev.roost.api.Problem;
import dev.roost.api.ReadableNames;
import dev.roost.api.Text;
import dev.roost.db.Sql;
import io.quarkus.hibernate.orm.panache.Panache;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.hibernate.Session;
import org.hibernate.exception.ConstraintViolationException;

/** A durable, ordered map of keys to JSON values; {@link Entries} holds the entries. */
@Entity
@Table(name = "datastore")
public class DataStore extends PanacheEntityBase {
  private static final Sql LOCK = Sql.of("select id from datastore where id = :id for update");

  private static final Sql DETACH_FROM_ALL = Sql.of("delete from agent_store where store_id = :id");

  /** The lock keeps the stores until the end of the caller's transaction. */
  private static final Sql KEEP =
      Sql.of("select id from datastore where id = any(:ids) order by id for key share");

  private static final Sql ATTACH =
      Sql.of(
          """
          insert into agent_store (agent_id, store_id, position)
          select :agent, id, position from unnest(:ids) with ordinality as ids (id, position)
          """);

  private static final Sql STORES_OF =
      Sql.of(
          """
          select agent_id, store_id from agent_store where agent_id = any(:ids)
          order by agent_id, position
          """);

  private static final Sql AGENTS_OF =
      Sql.of(
          """
          select s.store_id, s.agent_id from agent_store s join agent a on a.id = s.agent_id
          where s.store_id = any(:ids) and a.deleted_at is null order by s.agent_id
          """);

  private static final Sql USERS =
      Sql.of(
          """
          select a.id, a.name from agent_store s join agent a on a.id = s.agent_id
          where s.store_id = :store and a.deleted_at is null order by a.id
          """);

  private static final Sql INSERT =
      Sql.of(
          """
          insert into datastore (id, name, created_at, updated_at) values (:id, :name, :now, :now)
          on conflict (name) do nothing
          """);

  private static final Sql LIST =
      Sql.of(
          """
          select s.id from datastore s
          where (cast(:cursor as text) is null or s.id < :cursor)
            and (cast(:name as text) is null or s.name = :name)
            and %s
          order by s.id desc limit :most
          """
              .formatted(NameSearch.condition("s.name")));

  /** Detaches all stores from an agent. */
  public static final Sql DETACH_ALL = Sql.of("delete from agent_store where agent_id = :agent");

  static final int MAX_NAME_CHARACTERS = 100;

  @Id public String id;
  public String name;
  public Instant createdAt;

  /** The last change of the name, and, about a second later, of the entries. */
  public Instant updatedAt;

  /** An agent that uses a store, for messages. */
  private record User(String id, String name) {}

  /**
   * @param name null: a readable name is generated
   * @throws Problem conflict: the name is taken; validation_failed: the name is invalid
   */
  public static DataStore create(String name, Instant now) {
    if (name == null) {
      return createNamedAfter(ReadableNames.readable(), now);
    }
    requireName(name);
    if (!insert(name, now)) {
      throw taken(name);
    }
    return named(name);
  }

  /** A new store with that name or, if it is taken, with a number as suffix. */
  public static DataStore createNamedAfter(String preferred, Instant now) {
    String name = shortened(preferred, MAX_NAME_CHARACTERS);
    for (int i = 2; !insert(name, now); i++) {
      String suffix = i <= 20 ? "-" + i : "-" + ReadableNames.readable();
      name = shortened(preferred, MAX_NAME_CHARACTERS - suffix.length()) + suffix;
    }
    return named(name);
  }

  /**
   * @throws Problem not_found
   */
  public static DataStore get(String id) {
    return DataStore.<DataStore>findByIdOptional(id)
        .orElseThrow(() -> Problem.notFound("DataStore", id));
  }

  /**
   * Uses its own transaction.
   *
   * @throws Problem not_found
   */
  static void requireThere(String id) {
    QuarkusTransaction.requiringNew().run(() -> get(id));
  }

  /**
   * Newest first.
   *
   * @param name only the store of that name, or null
   * @param words only stores that {@link NameSearch} finds, or null
   * @param cursor only stores after this identifier, or null
   */
  static List<DataStore> list(String name, String[] words, String cursor, int limit) {
    List<String> ids =
        LIST.with("name", name)
            .with("words", words)
            .with("cursor", cursor)
            .with("most", limit)
            .strings(getEntityManager());
    return list("id in ?1 order by id desc", ids);
  }

  /**
   * @throws Problem conflict: the name is taken; validation_failed: the name is invalid
   */
  public void rename(String newName, Instant now) {
    if (name.equals(newName)) {
      return;
    }
    requireName(newName);
    if (count("name", newName) > 0) {
      throw taken(newName);
    }
    name = newName;
    updatedAt = now;
    try {
      flush();
    } catch (ConstraintViolationException e) {
      // Another request took the name after the check.
      throw taken(newName);
    }
  }

  /**
   * Deletes the store with all entries.
   *
   * @param force also when agents use the store, which then lose it
   * @throws Problem conflict: agents use the store
   */
  public static void delete(String id, boolean force) {
    // The lock keeps agents from adding the store meanwhile. Hibernate's lock would be
    // "for no key update", which doesn't block a new foreign key.
    LOCK.with("id", id).strings(entities());
    DataStore store = get(id);
    List<User> users = users(id);
    if (!users.isEmpty() && !force) {
      throw Problem.of(
          ErrorCode.CONFLICT,
          ("%s %s the DataStore %s. Remove it from their store_ids first, or delete it with "
                  + "?force=true.")
              .formatted(
                  users.stream()
                      .limit(5)
                      .map(user -> Text.quote(user.name()))
                      .collect(
                          Collectors.joining(
                              ", ",
                              users.size() == 1 ? "The agent " : "The agents ",
                              users.size() > 5 ? " and " + (users.size() - 5) + " more" : "")),
                  users.size() == 1 ? "uses" : "use",
                  Text.quote(store.name)));
    }
    DETACH_FROM_ALL.with("id", id).update(entities());
    store.delete();
    flush();
  }

  /**
   * The stores of agents, in the order of each agent's list.
   *
   * @return agent to the identifiers of its stores; agents without stores are missing
   */
  public static Map<String, List<String>> idsOfAgents(Collection<String> agentIds) {
    return grouped(STORES_OF, agentIds, "agent_id", "store_id");
  }

  /**
   * The errors in an agent's list of stores.
   *
   * @return empty when the list is valid
   */
  public static List<Problem.FieldError> mistakes(List<String> storeIds) {
    Set<String> there =
        storeIds.isEmpty()
            ? Set.of()
            : Set.copyOf(KEEP.with("ids", storeIds.toArray(String[]::new)).strings(entities()));
    List<Problem.FieldError> mistakes = new ArrayList<>();
    Set<String> seen = new LinkedHashSet<>();
    for (int i = 0; i < storeIds.size(); i++) {
      String id = storeIds.get(i);
      String pointer = "/store_ids/" + i;
      if (!there.contains(id)) {
        mistakes.add(
            new Problem.FieldError(
                pointer, "not_found", "There is no DataStore " + Text.quote(id) + "."));
      } else if (!seen.add(id)) {
        mistakes.add(
            new Problem.FieldError(pointer, "duplicate", "The DataStore " + id + " occurs twice."));
      }
    }
    return mistakes;
  }

  /**
   * Replaces an agent's list of stores, in the caller's transaction.
   *
   * @throws Problem validation_failed: see {@link #mistakes}
   */
  public static void use(String agentId, List<String> storeIds) {
    List<Problem.FieldError> mistakes = mistakes(storeIds);
    if (!mistakes.isEmpty()) {
      throw Problem.invalid(mistakes);
    }
    DETACH_ALL.with("agent", agentId).update(entities());
    if (!storeIds.isEmpty()) {
      flush();
      ATTACH.with("agent", agentId).with("ids", storeIds.toArray(String[]::new)).update(entities());
    }
  }

  /** The agents that use the store, without deleted ones, oldest first. */
  public static List<String> agentIds(String storeId) {
    return users(storeId).stream().map(User::id).toList();
  }

  /**
   * As {@link #agentIds(String)}, for many stores.
   *
   * @return store to agents; stores without agents are missing
   */
  static Map<String, List<String>> agentIds(Collection<String> storeIds) {
    return grouped(AGENTS_OF, storeIds, "store_id", "agent_id");
  }

  private static Map<String, List<String>> grouped(
      Sql query, Collection<String> ids, String key, String value) {
    Map<String, List<String>> grouped = new HashMap<>();
    if (!ids.isEmpty()) {
      query
          .with("ids", ids.toArray(String[]::new))
          .list(
              entities(),
              row ->
                  grouped
                      .computeIfAbsent(row.getString(key), none -> new ArrayList<>())
                      .add(row.getString(value)));
    }
    return grouped;
  }

  private static List<User> users(String storeId) {
    return USERS
        .with("store", storeId)
        .list(entities(), row -> new User(row.getString("id"), row.getString("name")));
  }

  /** Returns whether the name was free. A failed insert would abort the caller's transaction. */
  private static boolean insert(String name, Instant now) {
    return INSERT
            .with("id", Ids.next("store"))
            .with("name", name)
            .with("now", now)
            .update(entities())
        == 1;
  }

  private static DataStore named(String name) {
    return find("name", name).firstResult();
  }

  private static void requireName(String name) {
    int characters = name.codePointCount(0, name.length());
    if (name.isBlank() || characters > MAX_NAME_CHARACTERS) {
      throw Problem.invalid(
          "/name", "out_of_range", "A name must have 1 to " + MAX_NAME_CHARACTERS + " characters.");
    }
    if (name.codePoints().anyMatch(Character::isISOControl)) {
      throw Problem.invalid("/name", "invalid_text", "A name must not contain control characters.");
    }
  }

  private static Problem taken(String name) {
    return Problem.of(
        ErrorCode.CONFLICT, "A DataStore already has the name " + Text.quote(name) + ".");
  }

  private static String shortened(String name, int characters) {
    return name.codePointCount(0, name.length()) <= characters
        ? name
        : name.substring(0, name.offsetByCodePoints(0, characters));
  }

  private static Session entities() {
    return Panache.getSession(DataStore.class);
  }
}
