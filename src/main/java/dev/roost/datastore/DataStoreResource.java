package dev.roost.datastore;

import dev.roost.api.Cursor;
import dev.roost.api.NameSearch;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.headers.Header;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** DataStores; {@link EntryResource} serves their entries. */
@Path("/v1/datastore")
@Produces(MediaType.APPLICATION_JSON)
@Consumes(MediaType.APPLICATION_JSON)
@Tag(name = "DataStores")
@Transactional
public class DataStoreResource {
  private final StoreCounts counts;
  private final StoreSizes sizes;
  private final Clock clock;

  DataStoreResource(StoreCounts counts, StoreSizes sizes, Clock clock) {
    this.counts = counts;
    this.sizes = sizes;
    this.clock = clock;
  }

  @POST
  @Operation(operationId = "createDataStore", summary = "Create a DataStore")
  @RequestBody(
      content = @Content(schema = @Schema(implementation = DataStoreRequest.class)),
      required = false)
  @APIResponse(
      responseCode = "201",
      description = "The created DataStore",
      headers = @Header(name = "Location", schema = @Schema(type = SchemaType.STRING)),
      content = @Content(schema = @Schema(implementation = DataStoreView.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public RestResponse<DataStoreView> create(byte[] body) {
    DataStore store = DataStore.create(DataStoreRequest.of(body).name(), clock.instant());
    return ResponseBuilder.ok(view(store))
        .status(RestResponse.Status.CREATED)
        .location(URI.create("/v1/datastore/" + store.id))
        .build();
  }

  @GET
  @Operation(operationId = "listDataStores", summary = "List DataStores, newest first")
  public Page<DataStoreView> list(
      @Parameter(description = "Only the DataStore with exactly this name") @QueryParam("name")
          String name,
      @Parameter(description = NameSearch.DESCRIPTION) @QueryParam("q") String q,
      @QueryParam("limit") Integer limit,
      @QueryParam("cursor") String cursor) {
    int most = Page.limit(limit);
    List<DataStore> stores =
        DataStore.list(name, NameSearch.words("q", q), Cursor.id("store", cursor), most + 1);
    List<String> ids = stores.stream().map(store -> store.id).toList();
    Map<String, List<String>> agents = DataStore.agentIds(ids);
    Map<String, StoreCounts.Statistics> statistics = counts.statistics(ids);
    return Page.of(
        stores,
        most,
        store -> store.id,
        store ->
            DataStoreView.of(
                store,
                // The store was deleted meanwhile.
                statistics.getOrDefault(
                    store.id, new StoreCounts.Statistics(0, 0, store.updatedAt)),
                agents.getOrDefault(store.id, List.of())));
  }

  @GET
  @Path("/{id}")
  @Operation(operationId = "getDataStore", summary = "Retrieve a DataStore")
  public DataStoreView get(@PathParam("id") String id) {
    return view(DataStore.get(id));
  }

  @PATCH
  @Path("/{id}")
  @Operation(operationId = "updateDataStore", summary = "Rename a DataStore")
  @RequestBody(
      content = @Content(schema = @Schema(implementation = DataStoreRequest.class)),
      required = false)
  @APIResponse(
      responseCode = "200",
      description = "The DataStore",
      content = @Content(schema = @Schema(implementation = DataStoreView.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public DataStoreView update(@PathParam("id") String id, byte[] body) {
    DataStoreRequest request = DataStoreRequest.of(body);
    DataStore store = DataStore.get(id);
    if (request.name() != null) {
      store.rename(request.name(), clock.instant());
    }
    return view(store);
  }

  @DELETE
  @Path("/{id}")
  @Operation(
      operationId = "deleteDataStore",
      summary = "Delete a DataStore with all its entries",
      description =
          "Returns 409 if agents use it, unless force is true, which removes it from these agents.")
  @APIResponse(responseCode = "204", description = "Deleted")
  @APIResponse(responseCode = "409", ref = "conflict")
  public void delete(
      @PathParam("id") String id,
      @Parameter(
              description =
                  "true deletes the DataStore even if agents use it, and removes it from these agents")
          @QueryParam("force")
          String force) {
    if (force != null && !List.of("true", "false").contains(force)) {
      throw Problem.invalid("?force", "not_a_choice", "force must be true or false.");
    }
    DataStore.delete(id, "true".equals(force));
    sizes.forget(id);
  }

  private DataStoreView view(DataStore store) {
    StoreCounts.Statistics statistics = counts.statistics(List.of(store.id)).get(store.id);
    if (statistics == null) {
      throw Problem.notFound("DataStore", store.id);
    }
    return DataStoreView.of(store, statistics, DataStore.agentIds(store.id));
  }
}
