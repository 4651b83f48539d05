package dev.roost.datastore;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.config.RoostConfig;
import dev.roost.db.DatabaseClock;
import io.smallrye.common.annotation.Blocking;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.server.vertx.VertxInputStream;

/** Stores the lines of an export while they arrive. */
@Path("/v1/datastore/{id}/import")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "DataStores")
@Blocking
public class ImportResource {
  private static final long CUT_OFF_MARGIN_BYTES = 1L << 20;

  /** Each import occupies a thread until its lines have arrived. */
  private static final int AT_A_TIME = 4;

  private static final Duration LONGEST = Duration.ofMinutes(10);

  private final Semaphore free = new Semaphore(AT_A_TIME);

  private final Transactions transactions;
  private final DatabaseClock clock;
  private final RoostConfig config;

  ImportResource(Transactions transactions, DatabaseClock clock, RoostConfig config) {
    this.transactions = transactions;
    this.clock = clock;
    this.config = config;
  }

  @POST
  @Operation(
      operationId = "importDataStore",
      summary = "Import into a DataStore",
      description =
          "Accepts the lines of an export; ttl, in seconds, may replace expires_at. Existing "
              + "entries with the same keys are replaced; other entries are kept. Lines are stored in "
              + "atomic batches of up to 1,000 lines or 4 MiB. The first error ends the import; its "
              + "detail names the line and says which lines are stored. Importing the same lines again is "
              + "safe.")
  @RequestBody(
      required = false,
      description = "UTF-8, one JSON object per line, up to 80 MB. Send a larger file in parts",
      content =
          @Content(
              mediaType = ExportResource.LINES,
              schema = @Schema(type = SchemaType.STRING, examples = ExportResource.EXAMPLE)))
  @APIResponse(
      responseCode = "200",
      description = "All lines are stored",
      content = @Content(schema = @Schema(implementation = Import.Result.class)))
  public Import.Result store(
      @PathParam("id") String id,
      @Parameter(hidden = true) @HeaderParam("Content-Type") String contentType,
      @Parameter(hidden = true) @Context RoutingContext context,
      InputStream body) {
    requireLines(contentType);
    DataStore.requireThere(id);
    if (!free.tryAcquire()) {
      throw Problem.retryLater(
          ErrorCode.OVERLOADED,
          AT_A_TIME + " imports are running, which is the limit. Retry later.",
          5);
    }
    try {
      return new Import(transactions, config.limits(), id, clock.now(), maxBytes(context))
          .run(new TimedStream(body, LONGEST));
    } finally {
      free.release();
    }
  }

  /**
   * The server cuts off a body of unknown length at a limit, and then the progress can't be
   * reported; so the import ends itself somewhat earlier.
   */
  private static long maxBytes(RoutingContext context) {
    Long cutOff = context.get(VertxInputStream.MAX_REQUEST_SIZE_KEY);
    return cutOff == null ? Long.MAX_VALUE : cutOff - CUT_OFF_MARGIN_BYTES;
  }

  private static void requireLines(String contentType) {
    String type = contentType == null ? ExportResource.LINES : contentType.split(";", 2)[0].strip();
    if (!type.equalsIgnoreCase(ExportResource.LINES)) {
      throw Problem.of(
          ErrorCode.UNSUPPORTED_MEDIA_TYPE,
          "Send the lines with \"Content-Type: " + ExportResource.LINES + "\".");
    }
  }
}
