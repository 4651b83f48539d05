package dev.roost.agent;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.api.Problem;
import io.smallrye.common.annotation.Blocking;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** OpenAPI documents of single agents, with the schemas of the revision that runs. */
@Path("/v1/agents/{id}/openapi")
@Tag(name = "Agents")
@Blocking
public class AgentOpenApiResource {
  private static final String PAYLOAD = "#/components/schemas/Payload";
  private static final String RETURN_VALUE = "#/components/schemas/ReturnValue";

  /**
   * @throws Problem not_found
   */
  @GET
  @Transactional
  @Produces(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "getAgentOpenApi",
      summary = "Retrieve the OpenAPI document of an agent",
      description =
          "OpenAPI 3.1 with one operation, which executes the agent, and with the input_schema and "
              + "output_schema of the revision that runs: for generators of clients, and for whatever "
              + "calls tools that OpenAPI describes.")
  @APIResponse(
      responseCode = "200",
      description = "The OpenAPI document",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(type = SchemaType.OBJECT)))
  public String retrieve(String id) {
    Agent agent = Agent.require(id);
    return document(agent, AgentRevision.of(id, agent.revisionToRun())).toString();
  }

  private static ObjectNode document(Agent agent, AgentRevision revision) {
    ObjectNode document = JsonNodeFactory.instance.objectNode();
    document.put("openapi", "3.1.0");
    document.putObject("info").put("title", agent.name).put("version", "" + revision.revision);
    document.putArray("servers").addObject().put("url", "/");
    document.putArray("security").addObject().putArray("key");
    operation(
        document
            .putObject("paths")
            .putObject("/v1/agents/" + agent.id + "/execute")
            .putObject("post"),
        agent);
    ObjectNode components = document.putObject("components");
    ObjectNode schemas = components.putObject("schemas");
    schemas.set("Payload", ValueSchema.within(revision.effectiveInputSchema(), PAYLOAD));
    schemas.set("ReturnValue", ValueSchema.within(revision.effectiveOutputSchema(), RETURN_VALUE));
    components
        .putObject("securitySchemes")
        .putObject("key")
        .put("type", "http")
        .put("scheme", "bearer");
    return document;
  }

  private static void operation(ObjectNode operation, Agent agent) {
    operation.put("operationId", "execute").put("summary", "Execute " + agent.name);
    ObjectNode wait = operation.putArray("parameters").addObject();
    wait.put("name", "wait").put("in", "query");
    wait.put("description", "How many seconds the response may wait for the end of the job");
    wait.putObject("schema").put("type", "integer").put("minimum", 0).put("maximum", 60);
    ObjectNode body = operation.putObject("requestBody").put("required", true);
    ObjectNode request = json(body);
    request.put("type", "object").putArray("required").add("payload");
    request.putObject("properties").putObject("payload").put("$ref", PAYLOAD);
    ObjectNode responses = operation.putObject("responses");
    ObjectNode job = json(responses.putObject("201").put("description", "The job"));
    job.put("type", "object");
    ObjectNode fields = job.putObject("properties");
    fields.putObject("id").put("type", "string");
    fields.putObject("state").put("type", "string");
    ObjectNode execution = fields.putObject("execution");
    execution.putArray("type").add("object").add("null");
    execution.put("description", "The last attempt; null before it begins");
    ObjectNode value = execution.putObject("properties").putObject("return_value");
    value.put("description", "What main has returned; null before that");
    value.putArray("anyOf").addObject().put("$ref", RETURN_VALUE);
    value.withArray("anyOf").addObject().put("type", "null");
    ObjectNode problem = responses.putObject("default");
    problem.put("description", "A problem document; 422 if the payload does not match its schema");
    problem.putObject("content").putObject("application/problem+json");
  }

  private static ObjectNode json(ObjectNode body) {
    return body.putObject("content").putObject("application/json").putObject("schema");
  }
}
