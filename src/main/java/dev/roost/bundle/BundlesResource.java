package dev.roost.bundle;

import dev.roost.api.BodySize;
import dev.roost.api.Takes;
import dev.roost.config.RoostConfig;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
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

/** Bundles: create them, look at them. {@link BundleContentResource} serves their files. */
@Path("/v1/bundles")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Bundles")
@Blocking
public class BundlesResource {
  private final Bundles bundles;
  private final RoostConfig.Limits limits;

  BundlesResource(Bundles bundles, RoostConfig config) {
    this.bundles = bundles;
    this.limits = config.limits();
  }

  /** The schema of an entry of a new bundle. */
  @Schema(name = "BundleFileRequest")
  record EntryFields(
      @Schema(
              required = true,
              maxLength = BundlePaths.MOST_BYTES,
              examples = "src/main.py",
              description =
                  "A relative path with / between its segments: 1 to 1,024 bytes of UTF-8, at most 32 "
                      + "segments of 1 to 255 bytes, none of them . or .., without backslashes and control "
                      + "characters")
          String path,
      @Schema(required = true, minimum = "0", description = "Its size") long sizeBytes,
      @Schema(
              required = true,
              pattern = "[0-9a-f]{64}",
              description = "Its SHA-256 digest, hexadecimal")
          String sha256,
      @Schema(defaultValue = "false", description = "Whether it may be executed as a program")
          boolean executable) {}

  /** The schema of the body of a new bundle. */
  @Schema(name = "BundleRequest")
  record Fields(
      @Schema(
              nullable = true,
              description = "The bundle from which this one differs; null: send all files")
          String base,
      @Schema(
              nullable = true,
              description =
                  "A stored file that has, one after another in the order of files, the bytes of those "
                      + "entries whose content neither the base nor an earlier entry has; null: there are no "
                      + "such entries. Empty files need no bytes")
          String pack,
      @Schema(
              required = true,
              type = SchemaType.ARRAY,
              description = "The files that are new, or whose content or executable is another one")
          List<EntryFields> files,
      @Schema(
              type = SchemaType.ARRAY,
              defaultValue = "[]",
              description = "The paths of those files of the base that this bundle doesn't have")
          List<String> removed) {}

  @POST
  @Takes(BodySize.BUNDLE)
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "createBundle",
      summary = "Create a bundle",
      description =
          "The files of an agent's project, for bundle_id of agents. The digests are computed again. A "
              + "bundle never changes; one that no agent's revision refers to is deleted a day after its "
              + "creation.")
  @RequestBody(required = true, content = @Content(schema = @Schema(implementation = Fields.class)))
  @APIResponse(
      responseCode = "201",
      description = "The bundle",
      headers = @Header(name = "Location", schema = @Schema(type = SchemaType.STRING)),
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = StoredBundle.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public RestResponse<StoredBundle> create(byte[] bytes) {
    StoredBundle bundle = bundles.create(BundleRequest.read(bytes, limits));
    return ResponseBuilder.ok(bundle)
        .status(RestResponse.Status.CREATED)
        .location(URI.create("/v1/bundles/" + bundle.id()))
        .build();
  }

  @GET
  @Path("{id}")
  @Operation(operationId = "getBundle", summary = "Retrieve a bundle")
  public StoredBundle get(String id) {
    return bundles.find(id);
  }

  /** The files of a bundle. */
  @Schema(name = "BundleManifest")
  public record ManifestView(
      @Schema(description = "All files, sorted by the bytes of their paths")
          List<BundleFile.View> files) {}

  @GET
  @Path("{id}/manifest")
  @Operation(operationId = "getBundleManifest", summary = "List the files of a bundle")
  @APIResponse(
      responseCode = "200",
      description = "All files of the bundle",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = ManifestView.class)))
  @APIResponse(responseCode = "410", ref = "gone")
  public ManifestView manifest(String id) {
    return new ManifestView(bundles.manifest(id).files().stream().map(BundleFile::view).toList());
  }
}
