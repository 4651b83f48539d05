package dev.roost.agent;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * An agent that is offered as a tool, with the schemas of the revision that runs.
 *
 * @param name of the tool; null of an agent that isn't offered
 * @param title the agent's name
 * @param description or null
 * @param inputSchema or null
 * @param outputSchema or null
 */
public record OfferedTool(
    String agentId,
    String name,
    String title,
    String description,
    String inputSchema,
    String outputSchema) {
  /** The argument that is the payload, of agents whose payload need not be an object. */
  public static final String PAYLOAD = "payload";

  private static final String SELECT =
      """
      select a.id, a.tool_name, a.name, a.tool_description,
        coalesce(r.input_schema, r.hinted_input_schema) as input_schema,
        coalesce(r.output_schema, r.hinted_output_schema) as output_schema
      from agent a
      join agent_revision r on r.agent_id = a.id and r.revision =\s""";

  private static final String RUNNING = "coalesce(a.running_revision, a.revision) where ";

  private static final String OFFERED = "a.tool_name is not null and a.deleted_at is null and ";

  private static final Sql PAGE =
      Sql.of(SELECT + RUNNING + OFFERED + "a.tool_name > :after order by a.tool_name limit :most");

  private static final Sql FIND = Sql.of(SELECT + RUNNING + OFFERED + "a.tool_name = :name");

  private static final Sql OF_AGENT =
      Sql.of(SELECT + RUNNING + "a.id = :agent and a.deleted_at is null");

  private static final Sql OF_REVISION = Sql.of(SELECT + ":revision where a.id = :agent");

  /** In the order of their names' bytes, after a name. */
  public static List<OfferedTool> page(Connection connection, String after, int most)
      throws SQLException {
    return PAGE.with("after", after).with("most", most).list(connection, OfferedTool::read);
  }

  public static Optional<OfferedTool> find(Connection connection, String name) throws SQLException {
    return FIND.with("name", name).first(connection, OfferedTool::read);
  }

  /** An agent, whether it is offered or not. */
  public static OfferedTool ofAgent(Connection connection, String agentId) throws SQLException {
    return OF_AGENT
        .with("agent", agentId)
        .first(connection, OfferedTool::read)
        .orElseThrow(() -> Problem.notFound("Agent", agentId));
  }

  /** An agent with the schemas of one of its revisions, whether it is offered or not. */
  public static OfferedTool ofRevision(Connection connection, String agentId, int revision)
      throws SQLException {
    return OF_REVISION
        .with("agent", agentId)
        .with("revision", revision)
        .first(connection, OfferedTool::read)
        .orElseThrow(() -> Problem.notFound("Agent", agentId));
  }

  private static OfferedTool read(ResultSet row) throws SQLException {
    return new OfferedTool(
        row.getString("id"),
        row.getString("tool_name"),
        row.getString("name"),
        row.getString("tool_description"),
        row.getString("input_schema"),
        row.getString("output_schema"));
  }

  /**
   * Whether the arguments are the payload itself, since they are always an object. Otherwise the
   * payload is the argument {@link #PAYLOAD}.
   */
  public boolean takesObject() {
    return inputSchema == null || isOfObject(inputSchema);
  }

  /** The schema of the arguments: of an object, as clients require it. */
  public ObjectNode argumentsSchema() {
    if (inputSchema == null) {
      return JsonNodeFactory.instance.objectNode().put("type", "object");
    }
    if (takesObject()) {
      return ValueSchema.within(inputSchema, "#");
    }
    ObjectNode schema = JsonNodeFactory.instance.objectNode().put("type", "object");
    schema
        .putObject("properties")
        .set(PAYLOAD, ValueSchema.within(inputSchema, "#/properties/" + PAYLOAD));
    schema.putArray("required").add(PAYLOAD);
    return schema;
  }

  /** The schema of the return value; empty if there is none. */
  public Optional<ObjectNode> resultSchema() {
    return Optional.ofNullable(outputSchema).map(text -> ValueSchema.within(text, "#"));
  }

  /** Whether all return values are objects, which earlier revisions of the protocol require. */
  public boolean returnsObject() {
    return outputSchema != null && isOfObject(outputSchema);
  }

  /** The mistakes of a return value; empty without an output_schema. */
  public List<Problem.FieldError> mistakes(JsonText returnValue) {
    return outputSchema == null
        ? List.of()
        : ValueSchema.of(new JsonText(outputSchema))
            .mistakes(returnValue, "", new ValueSchema.Budget());
  }

  private static boolean isOfObject(String schema) {
    return ValueSchema.within(schema, "#").path("type").asText().equals("object");
  }
}
