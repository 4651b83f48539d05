package dev.roost.swarmnode;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentRequest;
import dev.roost.agent.AgentRevision;
import dev.roost.agent.Agents;
import dev.roost.agent.EnvVars;
import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.Caller;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import dev.roost.config.RoostConfig;
import dev.roost.datastore.DataStore;
import dev.roost.runtime.Runtime;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jboss.resteasy.reactive.ResponseStatus;
import org.jboss.resteasy.reactive.RestQuery;

/** Agents. Of an agent's stores, clients see the first one. */
@Path("/compat/swarmnode/v1/agents")
@Blocking
public class CompatAgents {
  private static final String LIST = "agents";

  /** Of the texts of one page, in characters. */
  private static final long MOST_CHARACTERS = 16 << 20;

  private final Agents agents;
  private final Runtime runtime;
  private final RoostConfig config;
  private final Caller caller;
  private final CompatUrls urls;

  CompatAgents(Agents agents, Runtime runtime, RoostConfig config, Caller caller, CompatUrls urls) {
    this.agents = agents;
    this.runtime = runtime;
    this.config = config;
    this.caller = caller;
    this.urls = urls;
  }

  /**
   * An agent.
   *
   * @param storeId null: it has no stores
   */
  public record View(
      String id,
      String name,
      String script,
      String requirements,
      String envVars,
      String pythonVersion,
      String storeId,
      Instant created,
      Instant modified) {}

  @GET
  public NumberedPage<View> list(
      @RestQuery Integer page, @RestQuery("page_size") Integer pageSize) {
    NumberedPage.Position position = NumberedPage.Position.of(page, pageSize);
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              List<Agent> found =
                  Agent.<Agent>find("deletedAt is null order by id desc")
                      .range(position.first(), position.last())
                      .list();
              long total = Agent.count("deletedAt is null");
              return NumberedPage.of(urls, LIST, position, Map.of(), total, views(found));
            });
  }

  @GET
  @Path("{id}")
  public View retrieve(String id) {
    return view(CompatIds.AGENT.id(id));
  }

  @POST
  @Path("create")
  @Takes(BodySize.AGENT)
  @Consumes(MediaType.APPLICATION_JSON)
  @ResponseStatus(201)
  public View create(byte[] bytes) {
    Body body = Body.parse(bytes);
    List.of("name", "script", "python_version", "store_id").forEach(body::require);
    Optional<String> store = body.string("store_id");
    AgentRequest request = read(body);
    return view(agents.create(request.withStoreIds(List.of(storeId(store.orElseThrow())))));
  }

  @PATCH
  @Path("{id}/update")
  @Takes(BodySize.AGENT)
  @Consumes(MediaType.APPLICATION_JSON)
  public View update(String id, byte[] bytes) {
    String agentId = CompatIds.AGENT.id(id);
    Body body = Body.parse(bytes);
    Optional<String> store = body.string("store_id");
    AgentRequest request = read(body);
    agents.update(
        agentId,
        store.isEmpty() ? request : request.withStoreIds(stores(agentId, store.get())),
        null);
    return view(agentId);
  }

  @DELETE
  @Path("{id}/delete")
  public void delete(String id) {
    agents.delete(CompatIds.AGENT.id(id));
  }

  private AgentRequest read(Body body) {
    AgentRequest request = AgentRequest.read(body, config.limits(), runtime, List.of());
    body.check();
    return request;
  }

  /**
   * @throws Problem not_found
   */
  private static String storeId(String uuid) {
    String id = CompatIds.STORE.id(uuid);
    if (QuarkusTransaction.requiringNew().call(() -> DataStore.count("id", id)) == 0) {
      throw CompatIds.STORE.absent(uuid);
    }
    return id;
  }

  /** The agent's stores with another one in the first place. */
  private static List<String> stores(String agentId, String uuid) {
    String first = storeId(uuid);
    List<String> before =
        QuarkusTransaction.requiringNew()
            .call(() -> DataStore.idsOfAgents(List.of(agentId)))
            .getOrDefault(agentId, List.of());
    List<String> stores =
        new ArrayList<>(before.isEmpty() ? List.of() : before.subList(1, before.size()));
    stores.remove(first);
    stores.add(0, first);
    return stores;
  }

  private View view(String agentId) {
    return QuarkusTransaction.requiringNew()
        .call(() -> views(List.of(Agent.require(agentId))).get(0));
  }

  private List<View> views(List<Agent> found) {
    List<String> ids = found.stream().map(agent -> agent.id).toList();
    requireSize(ids);
    Map<String, AgentRevision> revisions =
        AgentRevision.<AgentRevision>list(
                "agentId in ?1 and revision = (select a.revision from agent a where a.id = agentId)",
                ids)
            .stream()
            .collect(Collectors.toMap(revision -> revision.agentId, revision -> revision));
    Map<String, List<String>> stores = DataStore.idsOfAgents(ids);
    return found.stream()
        .map(agent -> view(agent, revisions.get(agent.id), stores.get(agent.id)))
        .toList();
  }

  private static void requireSize(List<String> ids) {
    long characters =
        Agent.getEntityManager()
            .createQuery(
                """
                select coalesce(sum(length(r.script) + length(r.requirements) + length(r.envVars)), 0)
                from agent_revision r join agent a on a.id = r.agentId and a.revision = r.revision
                where a.id in :ids""",
                Long.class)
            .setParameter("ids", ids)
            .getSingleResult();
    if (ids.size() > 1 && characters > MOST_CHARACTERS) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          "The agents of this page have %,d characters. Use a smaller page_size."
              .formatted(characters));
    }
  }

  private View view(Agent agent, AgentRevision revision, List<String> stores) {
    return new View(
        CompatIds.AGENT.uuid(agent.id),
        agent.name,
        revision.script,
        revision.requirements,
        caller.may(Role.WRITE) ? revision.envVars : EnvVars.masked(revision.envVars),
        revision.pythonVersion,
        CompatIds.STORE.uuid(stores == null ? null : stores.get(0)),
        agent.createdAt,
        agent.updatedAt);
  }
}
