package dev.roost.view;

import dev.roost.api.Body;
import dev.roost.api.Cursor;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.QueryParameters;
import dev.roost.api.Text;
import dev.roost.db.Sql;
import io.smallrye.common.annotation.Blocking;
import jakarta.persistence.EntityManager;
import jakarta.persistence.LockModeType;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
import java.time.Clock;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.headers.Header;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** Saved views of the dashboard's lists, shared by everyone. */
@Path("/v1/views")
@Tag(name = "Views")
@Blocking
public class SavedViewsResource {
  /** More would not be found in a menu. */
  private static final int MOST = 100;

  /** Views are created one at a time, so that the limit and the names hold. */
  private static final Sql LOCK = Sql.of("lock table saved_view in share row exclusive mode");

  private final EntityManager entities;
  private final Clock clock;

  SavedViewsResource(EntityManager entities, Clock clock) {
    this.entities = entities;
    this.clock = clock;
  }

  @GET
  @Transactional
  @Operation(operationId = "listViews", summary = "List saved views, newest first")
  public Page<SavedView.View> list(
      @Parameter(description = "Only the views of this list: agents or executions") @RestQuery
          String list,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    int most = Page.limit(limit);
    String given = Cursor.id("view", cursor);
    List<SavedView.ViewedList> lists =
        QueryParameters.choices("list", list, SavedView.ViewedList.class);
    List<SavedView> views =
        SavedView.<SavedView>find(
                "id < ?1 and list in ?2 order by id desc",
                given == null ? "view_~" : given,
                lists.isEmpty() ? List.of(SavedView.ViewedList.values()) : lists)
            .range(0, most)
            .list();
    return Page.of(views, most, view -> view.id, SavedView.View::of);
  }

  @POST
  @Transactional
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "createView",
      summary = "Save a view",
      description = "A list can have at most 100 views.")
  @RequestBody(
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = SavedViewRequest.Fields.class)))
  @APIResponse(
      responseCode = "201",
      description = "The saved view",
      headers = @Header(name = "Location", schema = @Schema(type = SchemaType.STRING)),
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = SavedView.View.class)))
  public RestResponse<SavedView.View> create(byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("list");
    body.require("name");
    SavedViewRequest request = SavedViewRequest.read(body);
    body.check();
    LOCK.with().update(entities);
    SavedView view = new SavedView();
    view.id = Ids.next("view");
    view.list = request.list().orElseThrow();
    view.filter = "";
    view.createdAt = clock.instant();
    requireFree(view.list, request.name().orElseThrow());
    if (SavedView.count("list", view.list) >= MOST) {
      throw Problem.of(
          ErrorCode.CONFLICT,
          "The list has %d views, the maximum. Delete one first.".formatted(MOST));
    }
    request.apply(view);
    view.updatedAt = view.createdAt;
    view.persist();
    return ResponseBuilder.ok(SavedView.View.of(view))
        .status(RestResponse.Status.CREATED)
        .location(URI.create("/v1/views/" + view.id))
        .build();
  }

  @GET
  @Path("{id}")
  @Transactional
  @Operation(operationId = "getView", summary = "Retrieve a saved view")
  public SavedView.View retrieve(String id) {
    return SavedView.<SavedView>findByIdOptional(id)
        .map(SavedView.View::of)
        .orElseThrow(() -> Problem.notFound("view", id));
  }

  @PATCH
  @Path("{id}")
  @Transactional
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(operationId = "updateView", summary = "Rename or change a saved view")
  @RequestBody(
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = SavedViewRequest.Fields.class)))
  public SavedView.View update(String id, byte[] bytes) {
    Body body = Body.parse(bytes);
    SavedViewRequest request = SavedViewRequest.read(body);
    body.check();
    LOCK.with().update(entities);
    SavedView view = lock(id);
    request
        .list()
        .filter(list -> list != view.list)
        .ifPresent(
            list -> {
              throw Problem.invalid(
                  "/list", "read_only", "The list of a view cannot be changed. Save another view.");
            });
    request
        .name()
        .filter(name -> !name.equals(view.name))
        .ifPresent(name -> requireFree(view.list, name));
    request.apply(view);
    view.updatedAt = clock.instant();
    return SavedView.View.of(view);
  }

  @DELETE
  @Path("{id}")
  @Transactional
  @Operation(operationId = "deleteView", summary = "Delete a saved view")
  public void delete(String id) {
    lock(id).delete();
  }

  private static SavedView lock(String id) {
    return SavedView.<SavedView>find("id", id)
        .withLock(LockModeType.PESSIMISTIC_WRITE)
        .firstResultOptional()
        .orElseThrow(() -> Problem.notFound("view", id));
  }

  private static void requireFree(SavedView.ViewedList list, String name) {
    if (SavedView.count("list = ?1 and name = ?2", list, name) > 0) {
      throw Problem.of(
          ErrorCode.CONFLICT, "A view of the list already has the name " + Text.quote(name) + ".");
    }
  }
}
