package dev.roost.swarmnode;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.config.RoostConfig;
import dev.roost.file.FileLinks;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jboss.resteasy.reactive.ResponseStatus;
import org.jboss.resteasy.reactive.RestQuery;

/** Assets: files that belong to an agent, or to none. */
@Path("/compat/swarmnode/v1/assets")
@Blocking
public class CompatAssets {
  private static final String LIST = "assets";

  private final Assets assets;
  private final FileLinks links;
  private final Duration lifetime;
  private final CompatUrls urls;

  CompatAssets(Assets assets, FileLinks links, RoostConfig config, CompatUrls urls) {
    this.assets = assets;
    this.links = links;
    this.lifetime = config.swarmnode().assetUrlLifetime();
    this.urls = urls;
  }

  /**
   * An asset.
   *
   * @param url where it can be downloaded without a key, for some time
   */
  public record View(String id, String name, String agentId, Instant created, String url) {}

  @GET
  public NumberedPage<View> list(
      @RestQuery("agent_id") String agentId,
      @RestQuery Integer page,
      @RestQuery("page_size") Integer pageSize) {
    NumberedPage.Position position = NumberedPage.Position.of(page, pageSize);
    Assets.Found found = assets.list(CompatIds.AGENT.filter(agentId), position);
    Map<String, Object> filters = new HashMap<>();
    filters.put("agent_id", agentId);
    return NumberedPage.of(
        urls,
        LIST,
        position,
        filters,
        found.total(),
        found.assets().stream().flatMap(this::ifThere).toList());
  }

  @GET
  @Path("{id}")
  public View retrieve(String id) {
    return assets
        .find(CompatIds.ASSET.id(id))
        .map(this::view)
        .orElseThrow(() -> CompatIds.ASSET.absent(id));
  }

  @POST
  @Path("confirm-storage")
  @Consumes(MediaType.APPLICATION_JSON)
  @ResponseStatus(201)
  public View confirm(byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("asset_storage_request_id");
    String request = body.string("asset_storage_request_id").orElse("");
    body.check();
    return view(assets.confirm(CompatIds.STORAGE_REQUEST.id(request)));
  }

  /** No published client has this, but assets without an agent would stay forever. */
  @DELETE
  @Path("{id}/delete")
  public void delete(String id) {
    if (!assets.delete(CompatIds.ASSET.id(id))) {
      throw CompatIds.ASSET.absent(id);
    }
  }

  /** Empty: it was deleted meanwhile. */
  private Stream<View> ifThere(StoredAsset asset) {
    try {
      return Stream.of(view(asset));
    } catch (Problem e) {
      if (e.code() != ErrorCode.NOT_FOUND) {
        throw e;
      }
      return Stream.empty();
    }
  }

  private View view(StoredAsset asset) {
    return new View(
        CompatIds.ASSET.uuid(asset.id()),
        asset.name(),
        CompatIds.AGENT.uuid(asset.agentId()),
        asset.createdAt(),
        urls.of(links.path(asset.fileId(), lifetime)));
  }
}
