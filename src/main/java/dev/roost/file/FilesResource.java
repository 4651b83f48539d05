package dev.roost.file;

import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.Needs;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
import java.time.Duration;
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

/** Files: create them, send their parts, look at them. {@link FileContentResource} serves them. */
@Path("/v1/files")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Files")
@Blocking
public class FilesResource {
  private static final int LINK_SECONDS = 3_600;
  private static final int MOST_LINK_SECONDS = 604_800;

  private final Files files;
  private final FileLinks links;

  FilesResource(Files files, FileLinks links) {
    this.files = files;
    this.links = links;
  }

  /** The schema of the body of a new file. */
  @Schema(name = "FileRequest")
  record Fields(
      @Schema(
              required = true,
              maxLength = Files.MOST_NAME_CHARACTERS,
              description = "Its name, without slashes",
              examples = "report.csv")
          String name,
      @Schema(
              defaultValue = "application/octet-stream",
              description = "Its media type",
              examples = "text/csv")
          String contentType) {}

  @POST
  @Needs(Role.EXECUTE)
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "createFile",
      summary = "Create a file",
      description =
          "Then send its parts, and complete it. A file that no job refers to is deleted a day after its "
              + "creation.")
  @RequestBody(required = true, content = @Content(schema = @Schema(implementation = Fields.class)))
  @APIResponse(
      responseCode = "201",
      description = "The file, without parts",
      headers = @Header(name = "Location", schema = @Schema(type = SchemaType.STRING)),
      content = @Content(schema = @Schema(implementation = StoredFile.View.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public RestResponse<StoredFile.View> create(byte[] bytes) {
    Body body = Body.parse(bytes);
    String name = body.string("name").orElse("");
    String type = body.string("content_type").orElse(null);
    body.require("name");
    body.check();
    StoredFile file = files.begin(name, type, null);
    return ResponseBuilder.ok(file.view())
        .status(RestResponse.Status.CREATED)
        .location(URI.create("/v1/files/" + file.id()))
        .build();
  }

  @GET
  @Path("{id}")
  @Operation(operationId = "getFile", summary = "Retrieve a file's metadata")
  public StoredFile.View get(String id) {
    return files.find(id).view();
  }

  @PUT
  @Path("{id}/parts/{part}")
  @Needs(Role.EXECUTE)
  @Takes(BodySize.FILE_PART)
  @Consumes(MediaType.WILDCARD)
  @Operation(
      operationId = "putFilePart",
      summary = "Send a part of a file",
      description =
          "Parts follow each other from number 0 on. All but the last have 4 MiB (4,194,304 bytes). "
              + "Repeating a part is safe.")
  @RequestBody(
      required = true,
      content =
          @Content(
              mediaType = MediaType.APPLICATION_OCTET_STREAM,
              schema = @Schema(type = SchemaType.STRING, format = "binary")))
  @APIResponse(
      responseCode = "200",
      description = "The file with the part",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = StoredFile.View.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public StoredFile.View part(
      String id,
      @Parameter(description = "Its number, from 0 on") @PathParam("part") int part,
      byte[] bytes) {
    return files.part(id, null, part, bytes).view();
  }

  /** The schema of the body that completes a file. */
  @Schema(name = "FileCompletionRequest")
  record Completion(
      @Schema(required = true, description = "The size of the whole file") long sizeBytes,
      @Schema(
              description =
                  "The SHA-256 digest of the whole file, hexadecimal, for those who download it",
              pattern = "[0-9a-f]{64}")
          String sha256) {}

  @POST
  @Path("{id}/complete")
  @Needs(Role.EXECUTE)
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(operationId = "completeFile", summary = "Complete a file after its last part")
  @RequestBody(
      required = true,
      content = @Content(schema = @Schema(implementation = Completion.class)))
  @APIResponse(
      responseCode = "200",
      description = "The stored file",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = StoredFile.View.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public StoredFile.View complete(String id, byte[] bytes) {
    Body body = Body.parse(bytes);
    long size = body.wholeNumber("size_bytes").orElse(0L);
    String digest = body.string("sha256").orElse(null);
    body.require("size_bytes");
    body.check();
    return files.complete(id, null, size, digest).view();
  }

  /** The schema of the body of a new link. */
  @Schema(name = "FileLinkRequest")
  record LinkFields(
      @Schema(
              minimum = "1",
              maximum = "604800",
              defaultValue = "3600",
              description = "After how many seconds it ends; at most a week")
          int expiresIn) {}

  @POST
  @Path("{id}/links")
  @Needs(Role.READ)
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "createFileLink",
      summary = "Create a link that downloads a file without a key",
      description =
          "For browsers, mails and other programs. Whoever has the link can download the file until it ends.")
  @RequestBody(
      required = false,
      content = @Content(schema = @Schema(implementation = LinkFields.class)))
  @APIResponse(
      responseCode = "201",
      description = "The link was created",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = FileLinks.Link.class)))
  public RestResponse<FileLinks.Link> link(String id, byte[] bytes) {
    Body body = Body.parse(bytes);
    int seconds = body.integer("expires_in", 1, MOST_LINK_SECONDS).orElse(LINK_SECONDS);
    body.check();
    return RestResponse.status(
        RestResponse.Status.CREATED, links.make(id, Duration.ofSeconds(seconds)));
  }
}
