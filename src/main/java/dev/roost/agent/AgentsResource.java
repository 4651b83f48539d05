package dev.roost.agent;

import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.ErrorTexts;
import dev.roost.api.NameSearch;
import dev.roost.api.Page;
import dev.roost.api.Sort;
import dev.roost.api.Takes;
import dev.roost.config.RoostConfig;
import dev.roost.datastore.DataStore;
import dev.roost.runtime.Runtime;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import jakarta.enterprise.inject.Instance;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Clock;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.headers.Header;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** Agents: create, list, retrieve, change, delete. */
@Path("/v1/agents")
@Tag(name = "Agents")
@Blocking
public class AgentsResource {
  private static final String INCLUDE = "\"activity\" adds the activity of each agent";

  private static final String SORT =
      "created, name, last_execution or failures; with a minus before it, descending. Default: "
          + "-created";

  private final Agents agents;
  private final AgentAnswers answers;
  private final Runtime runtime;
  private final RoostConfig config;
  private final Clock clock;

  /** Failure reasons of executions, which a package above this one provides. */
  private final List<String> reasons;

  AgentsResource(
      Agents agents,
      AgentAnswers answers,
      Runtime runtime,
      RoostConfig config,
      Clock clock,
      Instance<ErrorTexts> errorTexts) {
    this.reasons =
        errorTexts.stream()
            .filter(table -> table.id().equals("execution-reasons"))
            .flatMap(table -> table.rows().stream())
            .map(ErrorTexts.Row::code)
            .toList();
    this.agents = agents;
    this.answers = answers;
    this.runtime = runtime;
    this.config = config;
    this.clock = clock;
  }

  @POST
  @Takes(BodySize.AGENT)
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "createAgent",
      summary = "Create an agent",
      description = "Also creates the BuilderJob that installs the requirements.")
  @RequestBody(
      content =
          @Content(
              schema = @Schema(implementation = AgentFields.class),
              examples =
                  @ExampleObject(
                      name = "greeter",
                      value =
                          """
                          {"name": "greeter", "requirements": "Jinja2==3.1.4", "python_version": "3.13",
                           "script": "from jinja2 import Template\\n\\ndef main(request):\\n    return Template('Hello {{ name }}').render(request.payload)"}""")))
  @APIResponse(
      responseCode = "201",
      description = "The agent; its BuilderJob may still be running",
      headers = {
        @Header(name = "Location", schema = @Schema(type = SchemaType.STRING)),
        @Header(name = "ETag", schema = @Schema(type = SchemaType.STRING))
      },
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = AgentView.class)))
  public Response create(byte[] bytes) {
    Body body = Body.parse(bytes);
    if (body.json("bundle_id").isEmpty() || body.isNull("bundle_id")) {
      body.require("script");
    }
    AgentRequest request = read(body);
    return answers.created(agents.create(request));
  }

  @GET
  @Transactional
  @Operation(
      operationId = "listAgents",
      summary = "List agents, newest first",
      description =
          "With sort=failures, the last seven days count; a list that changes between two pages may "
              + "repeat or omit agents whose key has changed.")
  public Page<AgentView> list(
      @Parameter(description = "Only the agent with exactly this name") @RestQuery String name,
      @Parameter(description = NameSearch.DESCRIPTION) @RestQuery String q,
      @Parameter(description = AgentTags.DESCRIPTION) @RestQuery String tag,
      @Parameter(description = "true: only agents without a tag") @RestQuery Boolean untagged,
      @Parameter(description = SORT) @RestQuery String sort,
      @Parameter(description = INCLUDE) @RestQuery String include,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    AgentList.Filter filter =
        new AgentList.Filter(
            name, NameSearch.words("q", q), AgentTags.filter(tag), Boolean.TRUE.equals(untagged));
    return AgentList.page(
        filter,
        Sort.of(sort, AgentList.Key.CREATED),
        cursor,
        Page.limit(limit),
        clock.instant(),
        agents -> answers.views(agents, include));
  }

  @GET
  @Path("tags")
  @Transactional
  @Operation(
      operationId = "listAgentTags",
      summary = "List the tags of agents",
      description = "With the number of agents that have each tag; deleted agents do not count.")
  public AgentTags.Overview tags() {
    return AgentTags.overview();
  }

  @GET
  @Path("{id}")
  @Operation(operationId = "getAgent", summary = "Retrieve an agent")
  @APIResponse(
      responseCode = "200",
      headers = @Header(name = "ETag", schema = @Schema(type = SchemaType.STRING)),
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = AgentView.class)))
  public Response retrieve(String id, @Parameter(description = INCLUDE) @RestQuery String include) {
    return answers.of(id, include);
  }

  @PATCH
  @Takes(BodySize.AGENT)
  @Path("{id}")
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "updateAgent",
      summary = "Update an agent",
      description =
          "Fields that are left out keep their values. A change of script, bundle_id, script_path, requirements, env_vars, "
              + "python_version, profile, egress, preload, input_schema or output_schema creates a "
              + "revision; a change of requirements or python_version also creates a BuilderJob. The revision runs once its build has "
              + "succeeded; until then, and if the build fails, the previous revision runs.")
  @RequestBody(
      required = false,
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = AgentFields.class)))
  @APIResponse(
      responseCode = "200",
      headers = @Header(name = "ETag", schema = @Schema(type = SchemaType.STRING)),
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = AgentView.class)))
  @APIResponse(responseCode = "412", ref = "precondition_failed")
  public Response update(
      String id,
      @Parameter(description = "Apply the request only if the agent has this ETag")
          @HeaderParam("If-Match")
          String ifMatch,
      byte[] bytes) {
    agents.update(id, read(Body.parse(bytes)), ifMatch);
    return answers.of(id);
  }

  @DELETE
  @Path("{id}")
  @Operation(
      operationId = "deleteAgent",
      summary = "Delete an agent",
      description =
          "Cancels its executions and jobs. Its DataStores and the history of its executions are "
              + "kept.")
  public void delete(String id) {
    agents.delete(id);
  }

  private AgentRequest read(Body body) {
    AgentRequest request = AgentRequest.read(body, config.limits(), runtime, reasons);
    request
        .storeIds()
        .ifPresent(
            ids ->
                body.reject(QuarkusTransaction.requiringNew().call(() -> DataStore.mistakes(ids))));
    body.check();
    return request;
  }
}
