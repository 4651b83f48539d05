package dev.roost.datastore;

import dev.roost.api.Problem;
import dev.roost.cluster.OpenStreams;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.RestMulti;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** All entries of a DataStore as lines, in the format that {@link ImportResource} accepts. */
@Path("/v1/datastore/{id}/export")
@Produces(ExportResource.LINES)
@Tag(name = "DataStores")
@Blocking
public class ExportResource {
  static final String LINES = "application/x-ndjson";

  static final String EXAMPLE =
      """
      {"key":"user/42","value":{"name": "Ada", "balance": 1.10},"expires_at":null}
      {"key":"user/43","text":"{\\n  \\"name\\": \\"Bob\\"\\n}","expires_at":"2026-11-21T18:12:41.123456Z"}
      """;

  private static final Logger LOG = Logger.getLogger(ExportResource.class);

  private final Entries entries;
  private final OpenStreams streams;

  ExportResource(Entries entries, OpenStreams streams) {
    this.entries = entries;
    this.streams = streams;
  }

  @GET
  @Operation(
      operationId = "exportDataStore",
      summary = "Export a DataStore",
      description =
          "Returns one line per entry with the exact text of its value, ordered by key. If the text "
              + "has line breaks, it is in the string text. The DataStore is read page by page during the "
              + "response, which may or may not contain concurrent changes. If the export fails, the "
              + "connection is closed: continue with the key of the last complete line in after.")
  @APIResponse(
      responseCode = "200",
      description = "The lines; empty if there are no entries",
      content =
          @Content(
              mediaType = LINES,
              schema = @Schema(type = SchemaType.STRING, examples = EXAMPLE)))
  public Multi<byte[]> export(
      @PathParam("id") String id,
      @Parameter(description = "Only keys with this prefix") @QueryParam("prefix") String prefix,
      @Parameter(description = "Only keys after this key") @QueryParam("after") String after,
      @Parameter(hidden = true) @Context RoutingContext context) {
    streams.begin();
    // A worker thread reads and encodes each piece once the previous one is sent.
    Multi<byte[]> pieces =
        Multi.createBy()
            .repeating()
            .uni(
                () -> new Export(entries, id, prefix == null ? "" : prefix, after),
                export ->
                    Uni.createFrom()
                        .item(export::next)
                        .runSubscriptionOn(Infrastructure.getDefaultWorkerPool()))
            .until(piece -> piece.length == 0)
            .onFailure(e -> context.response().headWritten())
            .invoke(e -> LOG.warnf(e, "the export of %s was aborted", id));
    // Without this header the type would have a charset, which it doesn't define.
    return RestMulti.fromMultiData(pieces).header("Content-Type", LINES).build();
  }

  /**
   * Without this method, a HEAD would read the whole store.
   *
   * @throws Problem not_found
   */
  @HEAD
  @Operation(hidden = true)
  public RestResponse<Void> head(@PathParam("id") String id) {
    DataStore.requireThere(id);
    return ResponseBuilder.<Void>ok().type(LINES).build();
  }
}
