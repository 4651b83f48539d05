package dev.roost.bundle;

import dev.roost.api.Problem;
import dev.roost.cluster.OpenStreams;
import dev.roost.file.FileDownload;
import io.smallrye.common.annotation.Blocking;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HEAD;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestMulti;
import org.jboss.resteasy.reactive.RestQuery;
import org.jboss.resteasy.reactive.RestResponse;

/** The bytes of the files of bundles. */
@Path("/v1/bundles/{id}/content")
@Tag(name = "Bundles")
@Blocking
public class BundleContentResource {
  private final Bundles bundles;
  private final FileDownload download;
  private final OpenStreams streams;

  BundleContentResource(Bundles bundles, FileDownload download, OpenStreams streams) {
    this.bundles = bundles;
    this.download = download;
    this.streams = streams;
  }

  @GET
  @Operation(
      operationId = "downloadBundleFile",
      summary = "Download a file of a bundle",
      description = "Always as an attachment. A Range of bytes continues a download.")
  @APIResponse(
      responseCode = "200",
      description = "The file",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_OCTET_STREAM,
              schema = @Schema(type = SchemaType.STRING, format = "binary")))
  @APIResponse(
      responseCode = "206",
      description = "The bytes of the Range",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_OCTET_STREAM,
              schema = @Schema(type = SchemaType.STRING, format = "binary")))
  @APIResponse(responseCode = "410", ref = "gone")
  @APIResponse(responseCode = "416", ref = "range_not_satisfiable")
  public RestMulti<byte[]> content(
      String id,
      @Parameter(required = true, description = "The path of the file", example = "src/main.py")
          @RestQuery
          String path,
      @Parameter(description = "One range, for example bytes=1000-1999") @HeaderParam("Range")
          String range,
      @Parameter(hidden = true) @Context RoutingContext context) {
    Bundles.Located found = bundles.locate(id, required(path));
    streams.begin();
    BundleFile file = found.file();
    return download.sendSlice(
        found.pack(), file.offset(), file.sizeBytes(), name(file), range, context);
  }

  /** Without this method, a HEAD would read the whole file. */
  @HEAD
  @Operation(hidden = true)
  public RestResponse<Void> head(String id, @RestQuery String path) {
    BundleFile file = bundles.locate(id, required(path)).file();
    return download.headSlice(file.sizeBytes(), name(file));
  }

  private static String required(String path) {
    if (path == null) {
      throw Problem.invalid("?path", "required", "path is required.");
    }
    return path;
  }

  private static String name(BundleFile file) {
    return file.path().substring(file.path().lastIndexOf('/') + 1);
  }
}
