package dev.roost.file;

import dev.roost.api.WithoutKey;
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
import org.jboss.resteasy.reactive.RestQuery;
import org.jboss.resteasy.reactive.RestResponse;

/** The bytes of files, for whoever has a link. */
@Path("/v1/file-links/{id}")
@Tag(name = "Files")
@Blocking
public class FileLinksResource {
  private final FileLinks links;
  private final FileDownload download;
  private final OpenStreams streams;

  FileLinksResource(FileLinks links, FileDownload download, OpenStreams streams) {
    this.links = links;
    this.download = download;
    this.streams = streams;
  }

  @GET
  @WithoutKey
  @Operation(
      operationId = "downloadLinkedFile",
      summary = "Download a file by a link",
      description = "Without a key, until the link ends. As downloadFile otherwise.")
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
      @Parameter(description = "When the link ends, in seconds since 1970") @RestQuery long expires,
      @Parameter(description = "Of the link") @RestQuery String signature,
      @Parameter(description = "One range, for example bytes=1000-1999") @HeaderParam("Range")
          String range,
      @Parameter(hidden = true) @Context RoutingContext context) {
    StoredFile file = links.open(id, expires, signature);
    streams.beginWithoutKey();
    return download.send(file, range, context);
  }

  /** Without this method, a HEAD would read the whole file. */
  @HEAD
  @WithoutKey
  @Operation(hidden = true)
  public RestResponse<Void> head(String id, @RestQuery long expires, @RestQuery String signature) {
    return download.head(links.open(id, expires, signature));
  }
}
