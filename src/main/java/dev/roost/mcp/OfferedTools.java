package dev.roost.mcp;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.agent.OfferedTool;
import dev.roost.api.Cursor;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.db.Database;
import dev.roost.execution.ExecutorJob;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/** The agents that are tools. */
@ApplicationScoped
class OfferedTools {
  private static final String CURSOR = "tool";
  private static final int MOST_OF_PAGE = 100;

  /** Each may have two schemas of 64 KiB. */
  private static final int MOST_AT_ONCE = 10;

  /** Of the schemas and descriptions of a page, which has at least one tool. */
  private static final int MOST_CHARACTERS = 1 << 20;

  private final Database database;

  OfferedTools(Database database) {
    this.database = database;
  }

  /**
   * A page of tools, in the order of their names.
   *
   * @param cursor null: the first page
   * @throws RpcError the cursor isn't one
   */
  ObjectNode page(String cursor, Peer peer) {
    String last = cursor == null ? "" : nameOf(cursor);
    ObjectNode page = RpcMessage.object();
    ArrayNode tools = page.putArray("tools");
    int characters = 0;
    while (true) {
      String after = last;
      List<OfferedTool> some =
          database.once(connection -> OfferedTool.page(connection, after, MOST_AT_ONCE));
      for (OfferedTool tool : some) {
        ObjectNode described = described(tool, peer);
        characters += described.toString().length();
        if (!tools.isEmpty() && (tools.size() == MOST_OF_PAGE || characters > MOST_CHARACTERS)) {
          return page.put("nextCursor", cursorOf(last));
        }
        tools.add(described);
        last = tool.name();
      }
      if (some.size() < MOST_AT_ONCE) {
        return page;
      }
    }
  }

  private static String cursorOf(String name) {
    return Cursor.of(
        CURSOR,
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(name.getBytes(StandardCharsets.UTF_8)));
  }

  private static String nameOf(String cursor) {
    try {
      byte[] name = Base64.getUrlDecoder().decode(Cursor.position(CURSOR, cursor));
      return new String(name, StandardCharsets.UTF_8);
    } catch (Problem | IllegalArgumentException e) {
      throw RpcError.invalidParams("This cursor is not one of this list.");
    }
  }

  private static ObjectNode described(OfferedTool tool, Peer peer) {
    ObjectNode described = RpcMessage.object().put("name", tool.name()).put("title", tool.title());
    described.put(
        "description",
        tool.description() == null ? "Runs the agent " + tool.title() + "." : tool.description());
    described.set("inputSchema", tool.argumentsSchema());
    if (peer.isStateless() || tool.returnsObject()) {
      tool.resultSchema().ifPresent(schema -> described.set("outputSchema", schema));
    }
    if (peer.hasTasksOnRequest()) {
      described.putObject("execution").put("taskSupport", "optional");
    }
    described.putObject("_meta").put("dev.roost/agent_id", tool.agentId());
    return described;
  }

  /**
   * @throws RpcError there is none with this name
   */
  OfferedTool find(String name) {
    return database
        .once(connection -> OfferedTool.find(connection, name))
        .orElseThrow(() -> RpcError.invalidParams("There is no tool " + name + "."));
  }

  /** The agent of a job, with the schemas of the revision that the job runs. */
  OfferedTool ofJob(ExecutorJob.View job) {
    return database.once(
        connection -> OfferedTool.ofRevision(connection, job.agentId(), job.agentRevision()));
  }

  /**
   * An agent, whether it is offered or not.
   *
   * @throws Problem not_found
   */
  OfferedTool ofAgent(String agentId) {
    return database.once(connection -> OfferedTool.ofAgent(connection, agentId));
  }

  /** What the agent gets as its payload. */
  static JsonText payload(OfferedTool tool, JsonText arguments) {
    if (tool.takesObject()) {
      return arguments == null ? new JsonText("{}") : arguments;
    }
    return arguments == null ? null : RpcMessage.member(arguments, OfferedTool.PAYLOAD);
  }
}
