package dev.roost.agent;

import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import dev.roost.api.Text;
import dev.roost.db.Sql;
import io.smallrye.common.annotation.Blocking;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestPath;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;
import org.jboss.resteasy.reactive.RestResponse.Status;

/** The payloads that are saved for an agent. Whoever may execute the agent may change them. */
@Path("/v1/agents/{id}/payloads")
@Tag(name = "Agents")
@Blocking
public class SavedPayloadsResource {
  /** More would not be found in a menu. */
  static final int MOST = 100;

  /** What an editor takes. Longer inputs belong in a DataStore. */
  static final int MOST_BYTES = 64 << 10;

  private static final int MOST_CHARACTERS = 100;

  private static final String NAME =
      "The name: 1 to 100 letters, digits, spaces and . _ -, beginning with a letter or digit";

  private static final Pattern FORM =
      Pattern.compile("[\\p{L}\\p{N}](?:[\\p{L}\\p{M}\\p{N}._ -]*[\\p{L}\\p{M}\\p{N}._-])?");

  private static final Sql LIST =
      Sql.of(
          """
          select name, octet_length(payload) as size_bytes, null as payload, created_at, updated_at
          from saved_payload where agent_id = :agent order by name""");

  private static final Sql GET =
      Sql.of(
          """
          select name, octet_length(payload) as size_bytes, payload, created_at, updated_at
          from saved_payload where agent_id = :agent and name = :name""");

  private static final Sql OTHERS =
      Sql.of(
          """
          select count(*) as count from saved_payload where agent_id = :agent and name <> :name""");

  /** A row that is inserted has no {@code xmax}. */
  private static final Sql PUT =
      Sql.of(
          """
          insert into saved_payload (agent_id, name, payload, created_at, updated_at)
          values (:agent, :name, :payload, :now, :now)
          on conflict (agent_id, name) do update set payload = excluded.payload, updated_at = excluded.updated_at
          returning name, octet_length(payload) as size_bytes, payload, created_at, updated_at, xmax = 0 as created""");

  private static final Sql DELETE =
      Sql.of("delete from saved_payload where agent_id = :agent and name = :name");

  private final EntityManager entities;
  private final Clock clock;

  SavedPayloadsResource(EntityManager entities, Clock clock) {
    this.entities = entities;
    this.clock = clock;
  }

  /** The saved payloads of an agent. */
  @Schema(name = "SavedPayloads")
  record Overview(@Schema(description = "Sorted by name") List<SavedPayload> data) {}

  @GET
  @Transactional
  @Operation(
      operationId = "listSavedPayloads",
      summary = "List an agent's saved payloads",
      description = "At most 100, with null in place of the payloads.")
  public Overview list(String id) {
    Agent.require(id);
    return new Overview(LIST.with("agent", id).list(entities, SavedPayload::read));
  }

  @GET
  @Path("{name}")
  @Transactional
  @Operation(operationId = "getSavedPayload", summary = "Retrieve a saved payload of an agent")
  public SavedPayload retrieve(String id, @Parameter(description = NAME) @RestPath String name) {
    Agent.require(id);
    return GET.with("agent", id)
        .with("name", Text.storable(name))
        .first(entities, SavedPayload::read)
        .orElseThrow(() -> notFound(name));
  }

  /** The schema of the request body. */
  @Schema(name = "SavedPayloadRequest")
  record Fields(
      @Schema(ref = "JsonText", required = true, description = "Any JSON value, up to 64 KiB")
          JsonText payload) {}

  @PUT
  @Path("{name}")
  @Takes(BodySize.PAYLOAD)
  @Needs(Role.EXECUTE)
  @Transactional
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "putSavedPayload",
      summary = "Save a payload for an agent",
      description =
          "Creates it or replaces the one with this name. An agent can have at most 100 saved payloads.")
  @RequestBody(
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = Fields.class),
              examples =
                  @ExampleObject(name = "greet Ada", value = "{\"payload\": {\"name\": \"Ada\"}}")))
  @APIResponse(
      responseCode = "201",
      description = "The payload was created",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = SavedPayload.class)))
  @APIResponse(
      responseCode = "200",
      description = "The payload was replaced",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = SavedPayload.class)))
  public RestResponse<SavedPayload> put(
      String id, @Parameter(description = NAME) @RestPath String name, byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("payload");
    if (name.length() > MOST_CHARACTERS || !FORM.matcher(name).matches()) {
      throw Problem.invalid(
          "/name",
          "invalid_name",
          "A name must have 1 to %d letters, digits, spaces and . _ -, and begin with a letter or digit."
              .formatted(MOST_CHARACTERS));
    }
    if (body.sizeBytes("payload") > MOST_BYTES) {
      body.reject(
          "payload",
          "too_long",
          "A saved payload can have at most %,d bytes. Keep longer inputs in a DataStore."
              .formatted(MOST_BYTES));
    }
    body.check();
    Agent.lock(id); // One at a time, so that the limit holds.
    Sql.Bound others = OTHERS.with("agent", id).with("name", name);
    if (others.first(entities, row -> row.getInt("count")).orElseThrow() >= MOST) {
      throw Problem.of(
          ErrorCode.CONFLICT,
          "The agent has %d saved payloads, the maximum. Delete one first.".formatted(MOST));
    }
    return PUT.with("agent", id)
        .with("name", name)
        .with("payload", body.json("payload").orElseThrow().text())
        .with("now", clock.instant())
        .first(entities, SavedPayloadsResource::stored)
        .orElseThrow();
  }

  private static RestResponse<SavedPayload> stored(ResultSet row) throws SQLException {
    return ResponseBuilder.ok(SavedPayload.read(row))
        .status(row.getBoolean("created") ? Status.CREATED : Status.OK)
        .build();
  }

  @DELETE
  @Path("{name}")
  @Needs(Role.EXECUTE)
  @Transactional
  @Operation(operationId = "deleteSavedPayload", summary = "Delete a saved payload of an agent")
  public void delete(String id, @Parameter(description = NAME) @RestPath String name) {
    Agent.require(id);
    if (DELETE.with("agent", id).with("name", Text.storable(name)).update(entities) == 0) {
      throw notFound(name);
    }
  }

  private static Problem notFound(String name) {
    return Problem.notFound("saved payload", name);
  }
}
