package dev.roost.swarmnode;

import dev.roost.api.Body;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.util.Map;
import org.jboss.resteasy.reactive.ResponseStatus;

/** Requests to store assets; {@link Uploads} takes the content. */
@Path("/compat/swarmnode/v1/asset-storage-requests")
@Blocking
public class CompatStorageRequests {
  private final Assets assets;
  private final CompatUrls urls;

  CompatStorageRequests(Assets assets, CompatUrls urls) {
    this.assets = assets;
    this.urls = urls;
  }

  /**
   * A request to store an asset.
   *
   * @param formData what is sent before the content
   */
  public record View(String requestId, String presignedUrl, Map<String, String> formData) {}

  @POST
  @Path("create")
  @Consumes(MediaType.APPLICATION_JSON)
  @ResponseStatus(201)
  public View create(byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("asset_name");
    String name = body.string("asset_name").orElse("");
    boolean isOfNone = body.isNull("agent_id");
    String agent = isOfNone ? null : body.string("agent_id").orElse(null);
    body.check();
    UploadRequest request = assets.request(name, CompatIds.AGENT.filter(agent));
    String id = CompatIds.STORAGE_REQUEST.uuid(request.id());
    return new View(id, urls.of(request.path()), Map.of(Uploads.KEY, id));
  }
}
