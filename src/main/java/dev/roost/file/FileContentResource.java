package dev.roost.file;

import dev.roost.cluster.OpenStreams;
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
import org.jboss.resteasy.reactive.RestResponse;

/** The bytes of files. */
@Path("/v1/files/{id}/content")
@Tag(name = "Files")
@Blocking
public class FileContentResource {
  private final Files files;
  private final FileDownload download;
  private final OpenStreams streams;

  FileContentResource(Files files, FileDownload download, OpenStreams streams) {
    this.files = files;
    this.download = download;
    this.streams = streams;
  }

  @GET
  @Operation(
      operationId = "downloadFile",
      summary = "Download a file",
      description =
          "With the file's media type, as an attachment. A Range of bytes continues a download; a file "
              + "never changes.")
  @APIResponse(
      responseCode = "200",
      description = "The file",
      content = {
        @Content(
            mediaType = MediaType.APPLICATION_OCTET_STREAM,
            schema = @Schema(type = SchemaType.STRING, format = "binary")),
        @Content(
            mediaType = MediaType.WILDCARD,
            schema = @Schema(type = SchemaType.STRING, format = "binary"))
      })
  @APIResponse(
      responseCode = "206",
      description = "The bytes of the Range",
      content = {
        @Content(
            mediaType = MediaType.APPLICATION_OCTET_STREAM,
            schema = @Schema(type = SchemaType.STRING, format = "binary")),
        @Content(
            mediaType = MediaType.WILDCARD,
            schema = @Schema(type = SchemaType.STRING, format = "binary"))
      })
  @APIResponse(responseCode = "409", ref = "conflict")
  @APIResponse(responseCode = "416", ref = "range_not_satisfiable")
  public RestMulti<byte[]> content(
      String id,
      @Parameter(description = "One range, for example bytes=1000-1999") @HeaderParam("Range")
          String range,
      @Parameter(hidden = true) @Context RoutingContext context) {
    StoredFile file = files.find(id);
    streams.begin();
    return download.send(file, range, context);
  }

  /** Without this method, a HEAD would read the whole file. */
  @HEAD
  @Operation(hidden = true)
  public RestResponse<Void> head(String id) {
    return download.head(files.find(id));
  }
}
