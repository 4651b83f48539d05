package dev.roost.api;

import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.event.Event;
import jakarta.persistence.LockModeType;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
import java.time.Clock;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.headers.Header;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** API keys; access requires a key with the role {@code write}. */
@Path("/v1/keys")
@Produces(MediaType.APPLICATION_JSON)
@Consumes(MediaType.APPLICATION_JSON)
@Tag(name = "Keys")
public class KeysResource {
  private final Event<KeyDeleted> deleted;
  private final Clock clock;

  KeysResource(Event<KeyDeleted> deleted, Clock clock) {
    this.deleted = deleted;
    this.clock = clock;
  }

  @GET
  @Needs(Role.WRITE)
  @Transactional
  @Operation(operationId = "listKeys", summary = "List API keys, newest first")
  public Page<KeyView> list(
      @QueryParam("limit") Integer limit, @QueryParam("cursor") String cursor) {
    int most = Page.limit(limit);
    String given = Cursor.id("key", cursor);
    String before = given == null ? "key_~" : given;
    List<ApiKey> keys =
        ApiKey.<ApiKey>find("id < ?1 order by id desc", before).range(0, most).list();
    return Page.of(keys, most, key -> key.id, KeyView::of);
  }

  @POST
  @Needs(Role.WRITE)
  @Transactional
  @Operation(
      operationId = "createKey",
      summary = "Create an API key",
      description = "The response contains the key, which is not shown again.")
  @RequestBody(
      required = true,
      content = @Content(schema = @Schema(implementation = KeyRequest.class)))
  @APIResponse(
      responseCode = "201",
      description = "The created API key",
      headers = @Header(name = "Location", schema = @Schema(type = SchemaType.STRING)),
      content = @Content(schema = @Schema(implementation = KeyView.class)))
  public RestResponse<KeyView> create(byte[] body) {
    KeyRequest request = KeyRequest.of(body);
    ApiKey.Created created = ApiKey.make(request.name(), request.role(), clock.instant());
    return ResponseBuilder.ok(KeyView.of(created))
        .status(RestResponse.Status.CREATED)
        .location(URI.create("/v1/keys/" + created.key().id))
        .header("Cache-Control", "no-store")
        .build();
  }

  @GET
  @Path("/{id}")
  @Needs(Role.WRITE)
  @Transactional
  @Operation(operationId = "getKey", summary = "Retrieve an API key, without its secret")
  public KeyView get(@PathParam("id") String id) {
    return ApiKey.<ApiKey>findByIdOptional(id)
        .map(KeyView::of)
        .orElseThrow(() -> Problem.notFound("API key", id));
  }

  @DELETE
  @Path("/{id}")
  @Needs(Role.WRITE)
  @Operation(
      operationId = "deleteKey",
      summary = "Delete an API key",
      description = "The key is rejected immediately, and on other replicas within 5 seconds.")
  @APIResponse(responseCode = "204", description = "Deleted")
  @APIResponse(responseCode = "409", ref = "conflict")
  public void delete(@PathParam("id") String id) {
    QuarkusTransaction.requiringNew().run(() -> remove(id));
    deleted.fire(new KeyDeleted(id));
  }

  private static void remove(String id) {
    // Without the lock, two concurrent requests could delete the last two keys.
    List<ApiKey> writers =
        ApiKey.<ApiKey>find("role = ?1 order by id", Role.WRITE.code())
            .withLock(LockModeType.PESSIMISTIC_WRITE)
            .list();
    ApiKey key = ApiKey.findById(id);
    if (key == null) {
      throw Problem.notFound("API key", id);
    }
    if (writers.size() == 1 && writers.contains(key)) {
      throw Problem.of(
          ErrorCode.CONFLICT,
          "This is the last API key with the role \"write\". Create another one first.");
    }
    key.delete();
  }
}
