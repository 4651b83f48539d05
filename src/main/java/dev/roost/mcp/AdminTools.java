package dev.roost.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.agent.AgentsResource;
import dev.roost.agent.EnvVars;
import dev.roost.agent.OfferedTool;
import dev.roost.api.Body;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.builds.BuilderJobsResource;
import dev.roost.execution.ExecutionsResource;
import dev.roost.execution.ExecutorJobAnswers;
import dev.roost.execution.ExecutorJobsResource;
import dev.roost.runtime.RuntimeResource;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Roost's own tools, with which a coding assistant writes, runs and repairs agents. They do what
 * the REST API does, with its rules, apart from the values of environment variables, which no model
 * gets to see.
 */
@ApplicationScoped
class AdminTools {
  private static final String DEFINITIONS = "/mcp/admin-tools.json";
  private static final String ENV_VARS = "env_vars";
  private static final String AGENT_ID = "agent_id";
  private static final int MOST_JOBS = 10;

  private static final List<String> OF_LIST =
      List.of(
          "id",
          "name",
          "tags",
          "tool_name",
          "tool_description",
          "running_revision",
          "build_failure",
          "created_at",
          "updated_at");

  private final AgentsResource agents;
  private final ExecutorJobsResource jobs;
  private final ExecutorJobAnswers answers;
  private final ExecutionsResource executions;
  private final BuilderJobsResource builds;
  private final RuntimeResource runtime;
  private final OfferedTools tools;
  private final Calls calls;
  private final ObjectMapper mapper;
  private final JsonNode definitions;

  AdminTools(
      AgentsResource agents,
      ExecutorJobsResource jobs,
      ExecutorJobAnswers answers,
      ExecutionsResource executions,
      BuilderJobsResource builds,
      RuntimeResource runtime,
      OfferedTools tools,
      Calls calls,
      ObjectMapper mapper) {
    this.agents = agents;
    this.jobs = jobs;
    this.answers = answers;
    this.executions = executions;
    this.builds = builds;
    this.runtime = runtime;
    this.tools = tools;
    this.calls = calls;
    this.mapper = mapper;
    try (InputStream json = AdminTools.class.getResourceAsStream(DEFINITIONS)) {
      this.definitions = mapper.readTree(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  ObjectNode page() {
    ObjectNode page = RpcMessage.object();
    page.set("tools", definitions.deepCopy());
    return page;
  }

  /**
   * @throws RpcError there is no such tool
   */
  Uni<Reply> call(Peer peer, RpcMessage message, String traceParent) {
    String name = message.text("name");
    JsonText arguments = message.arguments() == null ? new JsonText("{}") : message.arguments();
    Body body = Body.parse(arguments.text().getBytes(StandardCharsets.UTF_8));
    try {
      if (name.equals("roost_run_agent")) {
        return run(peer, message, body, traceParent);
      }
      ObjectNode result = structured(answer(name, arguments, body));
      return Uni.createFrom().item(new Reply.Result(peer.complete(result)));
    } catch (Problem e) {
      return Uni.createFrom().item(new Reply.Result(peer.complete(ToolResults.failure(e, ""))));
    }
  }

  private Object answer(String name, JsonText arguments, Body body) {
    return switch (name) {
      case "roost_list_agents" -> {
        String search = body.string("search").orElse(null);
        String cursor = body.string("cursor").orElse(null);
        body.check();
        yield shortened(agents.list(null, search, null, null, null, null, cursor, null));
      }
      case "roost_get_agent" -> masked(agents.retrieve(id(body, AGENT_ID), null).getEntity());
      case "roost_create_agent" ->
          masked(agents.create(arguments.text().getBytes(StandardCharsets.UTF_8)).getEntity());
      case "roost_update_agent" -> {
        String id = body.string(AGENT_ID).orElse(null);
        body.require(AGENT_ID);
        ObjectNode fields = (ObjectNode) RpcMessage.tree(arguments);
        fields.remove(AGENT_ID);
        yield masked(agents.update(id, null, RpcMessage.bytes(fields)).getEntity());
      }
      case "roost_list_jobs" -> {
        String agentId = body.string(AGENT_ID).orElse(null);
        String state = body.string("state").orElse(null);
        String cursor = body.string("cursor").orElse(null);
        body.check();
        yield jobs.page(agentId, state, cursor, MOST_JOBS);
      }
      case "roost_get_job" -> answers.now(id(body, "executor_job_id"));
      case "roost_cancel_job" -> jobs.cancel(id(body, "executor_job_id"));
      case "roost_get_execution_log" -> {
        Integer after = body.integer("after_seq", 0, Integer.MAX_VALUE).orElse(null);
        yield executions.logs(id(body, "execution_id"), null, after, null, null, null);
      }
      case "roost_get_build_log" -> {
        Integer after = body.integer("after_seq", 0, Integer.MAX_VALUE).orElse(null);
        yield builds.logs(id(body, "builder_job_id"), null, after, null, null);
      }
      case "roost_get_runtime" -> {
        body.check();
        yield runtime.get();
      }
      default -> throw RpcError.invalidParams("There is no tool " + name + ".");
    };
  }

  private static String id(Body body, String name) {
    String id = body.string(name).orElse(null);
    body.require(name);
    body.check();
    return id;
  }

  /** As the call of a tool that the agent would be. */
  private Uni<Reply> run(Peer peer, RpcMessage message, Body body, String traceParent) {
    JsonText payload = body.json(OfferedTool.PAYLOAD).orElse(null);
    String agentId = id(body, AGENT_ID);
    if (message.params().has("requestState")) {
      return Uni.createFrom().item(calls.continued(peer, message, tools.ofAgent(agentId)));
    }
    return calls.begin(peer, message, tools.ofAgent(agentId), payload, traceParent);
  }

  private String json(Object value) {
    try {
      return mapper.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private ObjectNode structured(Object entity) {
    String json = json(entity);
    ObjectNode result = ToolResults.text(json);
    result.putRawValue("structuredContent", RpcMessage.raw(new JsonText(json)));
    return result;
  }

  /** An agent without the values of its environment variables. */
  private JsonNode masked(Object entity) {
    ObjectNode agent = (ObjectNode) RpcMessage.tree(new JsonText(json(entity)));
    return agent.put(ENV_VARS, EnvVars.masked(agent.path(ENV_VARS).asText()));
  }

  /** A page of agents with what one chooses among them by: a model reads all of it. */
  private JsonNode shortened(Object page) {
    JsonNode tree = RpcMessage.tree(new JsonText(json(page)));
    for (JsonNode agent : tree.path("data")) {
      ((ObjectNode) agent).retain(OF_LIST);
    }
    return tree;
  }
}
