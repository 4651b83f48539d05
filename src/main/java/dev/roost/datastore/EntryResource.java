package dev.roost.datastore;

import dev.roost.api.BodySize;
import dev.roost.api.Cursor;
import dev.roost.api.JsonText;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.Takes;
import dev.roost.api.Text;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
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
import org.jboss.resteasy.reactive.RestResponse.Status;

/**
 * The entries of a DataStore. Their keys come from {@link EntryPath}, not from the path parameter.
 */
@Path("/v1/datastore/{id}/entries")
@Produces(MediaType.APPLICATION_JSON)
@Consumes(MediaType.APPLICATION_JSON)
@Tag(name = "DataStores")
public class EntryResource {
  private static final String KEY =
      "The key, percent-encoded: 1 to 512 bytes of UTF-8. Slashes need not be encoded.";

  private static final Pattern SECONDS =
      Pattern.compile("(?:\\d{1,50}(?:\\.\\d{0,50})?|\\.\\d{1,50})(?:[eE][-+]?\\d{1,5})?");

  private final Entries entries;

  EntryResource(Entries entries) {
    this.entries = entries;
  }

  @GET
  @Operation(
      operationId = "listEntries",
      summary = "List entries, ordered by key",
      description = "A page may be shorter than the limit if values are large.")
  public Page<Entry> list(
      @PathParam("id") String id,
      @Parameter(description = "Only keys with this prefix") @QueryParam("prefix") String prefix,
      @Parameter(description = "Only this key and later keys") @QueryParam("start") String start,
      @QueryParam("limit") Integer limit,
      @QueryParam("cursor") String cursor) {
    Range range =
        new Range(prefix == null ? "" : prefix, start, cursor == null ? null : keyOf(cursor), null);
    Scan scan = entries.scan(Access.ofClient(id), range, Page.limit(limit), true);
    return new Page<>(scan.entries(), scan.next() == null ? null : cursorOf(scan.next()));
  }

  @GET
  @Path("/{key: .+}")
  @Operation(
      operationId = "getEntry",
      summary = "Retrieve a value",
      description = "Returns the exact JSON text that was stored.")
  @Parameter(
      name = "key",
      in = ParameterIn.PATH,
      required = true,
      description = KEY,
      schema = @Schema(type = SchemaType.STRING, examples = "user/42"))
  @APIResponse(
      responseCode = "200",
      description = "The value",
      headers =
          @Header(
              name = "ETag",
              description = "The entry's version",
              schema = @Schema(type = SchemaType.STRING, examples = "\"42\"")),
      content = @Content(schema = @Schema(implementation = JsonText.class)))
  @APIResponse(responseCode = "304", description = "The entry has a version of If-None-Match")
  public RestResponse<byte[]> get(
      @PathParam("id") String id,
      @Parameter(hidden = true) @Context RoutingContext context,
      @Parameter(
              description =
                  "ETags of known versions. Returns 304 if the entry has one of these versions")
          @HeaderParam("If-None-Match")
          String ifNoneMatch) {
    String key = EntryPath.key(context);
    Entry entry = entries.get(Access.ofClient(id), key).orElseThrow(() -> absent(id, key));
    if (Precondition.isKnown(ifNoneMatch, entry.version())) {
      return ResponseBuilder.<byte[]>create(Status.NOT_MODIFIED)
          .header("ETag", Precondition.entityTag(entry.version()))
          .build();
    }
    return ResponseBuilder.ok(entry.value().text().getBytes(StandardCharsets.UTF_8))
        .type(MediaType.APPLICATION_JSON_TYPE)
        .header("ETag", Precondition.entityTag(entry.version()))
        .build();
  }

  @PUT
  @Takes(BodySize.STORE_VALUE)
  @Path("/{key: .+}")
  @Operation(operationId = "putEntry", summary = "Store a value")
  @Parameter(
      name = "key",
      in = ParameterIn.PATH,
      required = true,
      description = KEY,
      schema = @Schema(type = SchemaType.STRING, examples = "user/42"))
  @RequestBody(
      required = true,
      description = "The value, up to 1 MiB. Its exact text is stored",
      content = @Content(schema = @Schema(implementation = JsonText.class)))
  @APIResponse(
      responseCode = "201",
      description = "The entry was created",
      headers = @Header(name = "ETag", schema = @Schema(type = SchemaType.STRING)))
  @APIResponse(
      responseCode = "204",
      description = "The entry was replaced",
      headers = @Header(name = "ETag", schema = @Schema(type = SchemaType.STRING)))
  @APIResponse(responseCode = "412", ref = "precondition_failed")
  public RestResponse<Void> put(
      @PathParam("id") String id,
      @Parameter(hidden = true) @Context RoutingContext context,
      @Parameter(description = "Replace the entry only if it has this version; * for any version")
          @HeaderParam("If-Match")
          String ifMatch,
      @Parameter(description = "* stores the value only if the key has no entry")
          @HeaderParam("If-None-Match")
          String ifNoneMatch,
      @Parameter(
              description = "The TTL of the entry in seconds",
              schema = @Schema(type = SchemaType.NUMBER, examples = "3600"))
          @HeaderParam("Roost-TTL")
          String ttl,
      byte[] body) {
    Entries.Written written =
        entries
            .put(
                Access.ofClient(id),
                EntryPath.key(context),
                JsonText.parse(body == null ? new byte[0] : body),
                seconds(ttl),
                Precondition.of(ifMatch, ifNoneMatch))
            .result();
    return ResponseBuilder.<Void>create(written.created() ? Status.CREATED : Status.NO_CONTENT)
        .header("ETag", Precondition.entityTag(written.version()))
        .build();
  }

  @DELETE
  @Path("/{key: .+}")
  @Operation(operationId = "deleteEntry", summary = "Delete an entry")
  @Parameter(
      name = "key",
      in = ParameterIn.PATH,
      required = true,
      description = KEY,
      schema = @Schema(type = SchemaType.STRING, examples = "user/42"))
  @APIResponse(responseCode = "204", description = "Deleted")
  @APIResponse(responseCode = "412", ref = "precondition_failed")
  public void delete(
      @PathParam("id") String id,
      @Parameter(hidden = true) @Context RoutingContext context,
      @Parameter(description = "Delete the entry only if it has this version; * for any version")
          @HeaderParam("If-Match")
          String ifMatch) {
    String key = EntryPath.key(context);
    Precondition precondition = Precondition.of(ifMatch, null);
    if (entries.delete(Access.ofClient(id), key, precondition).result().isEmpty()) {
      throw absent(id, key);
    }
  }

  private static Problem absent(String id, String key) {
    DataStore store = DataStore.get(id);
    return Problem.notFound("entry in the DataStore " + Text.quote(store.name) + " with key", key);
  }

  private static Double seconds(String ttl) {
    if (ttl == null) {
      return null;
    }
    // Double.parseDouble also accepts "1d" and "0x1p3".
    double seconds = SECONDS.matcher(ttl.strip()).matches() ? Double.parseDouble(ttl) : 0;
    if (seconds > 0 && seconds <= Entries.MAX_TTL_SECONDS) {
      return seconds;
    }
    throw Problem.invalid(
        "Roost-TTL",
        "out_of_range",
        "Roost-TTL must be a number of seconds above 0 and up to %.0f, for example 3600."
            .formatted(Entries.MAX_TTL_SECONDS));
  }

  private static String cursorOf(String key) {
    String encoded =
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(key.getBytes(StandardCharsets.UTF_8));
    return Cursor.of("entry", encoded);
  }

  private static String keyOf(String cursor) {
    try {
      String key = EntryKey.text(Base64.getUrlDecoder().decode(Cursor.position("entry", cursor)));
      if (cursorOf(key).equals(cursor)) {
        return key;
      }
    } catch (IllegalArgumentException e) {
      // Reported below, as bytes that are not text.
    }
    throw Cursor.invalid();
  }
}
