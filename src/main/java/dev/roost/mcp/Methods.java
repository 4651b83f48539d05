package dev.roost.mcp;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.agent.OfferedTool;
import dev.roost.api.Caller;
import dev.roost.api.JsonText;
import dev.roost.api.Role;
import dev.roost.execution.Approvals;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.config.ConfigProvider;

/** The methods of the protocol. */
@ApplicationScoped
class Methods {
  private static final ObjectNode SERVER_INFO =
      RpcMessage.object()
          .put("name", "roost")
          .put("title", "Roost")
          .put(
              "version",
              ConfigProvider.getConfig().getValue("quarkus.application.version", String.class));

  private static final String CALL = "tools/call";

  private static final String AGENTS =
      "Each tool is a Python agent, and each call executes it. A call that takes long reports its "
          + "progress. Logs, results and stores are resources.";

  private static final String ADMIN =
      "Write, run and repair Python agents. An agent is a script with a function main(request, store) "
          + "and pinned requirements, one name==version per line. Create it with roost_create_agent, run it with "
          + "roost_run_agent, and read what it has printed with roost_get_execution_log.";

  /** What a client has connected to. */
  enum Server {
    /** The agents that are tools. */
    AGENTS,
    /** Roost's own tools. */
    ADMIN
  }

  private final OfferedTools tools;
  private final AdminTools admin;
  private final Calls calls;
  private final Tasks tasks;
  private final Resources resources;
  private final Approvals approvals;
  private final Caller caller;

  Methods(
      OfferedTools tools,
      AdminTools admin,
      Calls calls,
      Tasks tasks,
      Resources resources,
      Approvals approvals,
      Caller caller) {
    this.tools = tools;
    this.admin = admin;
    this.calls = calls;
    this.tasks = tasks;
    this.resources = resources;
    this.approvals = approvals;
    this.caller = caller;
  }

  static ObjectNode serverInfo() {
    return SERVER_INFO;
  }

  /** Whether the answer may be a stream of events. */
  static boolean mayStream(RpcMessage message) {
    return message.method().equals(CALL) || message.method().equals(Tasks.RESULT);
  }

  /**
   * @param traceParent the header, or null
   * @throws RpcError for example an unknown method
   * @throws dev.roost.api.Problem for example forbidden
   */
  Uni<Reply> answer(Server server, Peer peer, RpcMessage message, String traceParent) {
    if (message.method().equals(CALL)) {
      caller.require(Role.EXECUTE);
      return server == Server.ADMIN
          ? admin.call(peer, message, traceParent)
          : call(peer, message, traceParent);
    }
    if (message.method().equals(Tasks.RESULT) && !peer.isStateless()) {
      return Uni.createFrom().item(tasks.result(peer, message));
    }
    return Uni.createFrom().item(new Reply.Result(result(server, peer, message)));
  }

  private ObjectNode result(Server server, Peer peer, RpcMessage message) {
    String cursor = message.params().path("cursor").textValue();
    return switch (message.method()) {
      case "tools/list" ->
          peer.cacheable(server == Server.ADMIN ? admin.page() : tools.page(cursor, peer));
      case "resources/list" -> peer.cacheable(resources.page(cursor));
      case "resources/templates/list" -> peer.cacheable(Resources.templates());
      case "resources/read" -> peer.cacheable(resources.read(message.text("uri"), peer));
      case "tasks/get" -> tasks.get(peer, message);
      case "tasks/cancel" -> {
        caller.require(Role.EXECUTE);
        yield tasks.cancel(peer, message);
      }
      default ->
          peer.isStateless()
              ? ofStateless(server, peer, message)
              : ofSession(server, peer, message);
    };
  }

  private ObjectNode ofStateless(Server server, Peer peer, RpcMessage message) {
    return switch (message.method()) {
      case "server/discover" -> {
        ObjectNode result = RpcMessage.object();
        ArrayNode versions = result.putArray("supportedVersions");
        Peer.WITH_SESSION.forEach(versions::add);
        versions.add(Peer.STATELESS);
        ObjectNode capabilities = capabilities(result);
        capabilities.putObject("logging");
        capabilities.putObject("extensions").putObject(Peer.TASKS);
        yield peer.cacheable(result.put("instructions", instructions(server)));
      }
      case "tasks/update" -> {
        caller.require(Role.EXECUTE);
        yield tasks.update(peer, message);
      }
      default -> throw unknown(message);
    };
  }

  private ObjectNode ofSession(Server server, Peer peer, RpcMessage message) {
    return switch (message.method()) {
      case "ping" -> RpcMessage.object();
      case "initialize" -> {
        String wanted = message.text("protocolVersion");
        String version = Peer.WITH_SESSION.contains(wanted) ? wanted : Peer.LATEST_WITH_SESSION;
        ObjectNode result = RpcMessage.object().put("protocolVersion", version);
        ObjectNode capabilities = capabilities(result);
        if (version.equals(Peer.LATEST_WITH_SESSION)) {
          ObjectNode tasks = capabilities.putObject("tasks");
          tasks.putObject("cancel");
          tasks.putObject("requests").putObject("tools").putObject("call");
        }
        result.set("serverInfo", SERVER_INFO);
        yield result.put("instructions", instructions(server));
      }
      default -> throw unknown(message);
    };
  }

  private static ObjectNode capabilities(ObjectNode result) {
    ObjectNode capabilities = result.putObject("capabilities");
    capabilities.putObject("tools");
    capabilities.putObject("resources");
    return capabilities;
  }

  private static String instructions(Server server) {
    return server == Server.ADMIN ? ADMIN : AGENTS;
  }

  private static RpcError unknown(RpcMessage message) {
    return new RpcError(
        RpcError.METHOD_NOT_FOUND, "There is no method " + message.method() + " here.");
  }

  private Uni<Reply> call(Peer peer, RpcMessage message, String traceParent) {
    OfferedTool tool = tools.find(message.text("name"));
    if (peer.isStateless() && message.params().has("requestState")) {
      return Uni.createFrom().item(calls.continued(peer, message, tool));
    }
    JsonText payload = OfferedTools.payload(tool, message.arguments());
    return calls.begin(peer, message, tool, payload, traceParent);
  }

  /** A message that is not answered. */
  void take(Peer peer, RpcMessage message) {
    if ("notifications/cancelled".equals(message.method()) && peer.session() != null) {
      caller.require(Role.EXECUTE);
      calls.cancelled(peer, new JsonText(message.params().path("requestId").toString()));
    }
  }

  /** The answer to a request of ours, which has the identifier of an approval. */
  void response(RpcMessage message) {
    caller.require(Role.EXECUTE);
    String approvalId = RpcMessage.tree(message.id()).asText();
    if (message.result() != null) {
      Elicitation.decide(approvals, approvalId, message.result(), caller.keyName());
    }
  }
}
