package dev.roost.api;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.Map;

/** Says who issues access tokens for this server (RFC 9728); for programs of any origin. */
@Path(TokenSenders.METADATA)
@Produces(MediaType.APPLICATION_JSON)
public class ProtectedResourceMetadata {
  private final TokenSenders senders;

  ProtectedResourceMetadata(TokenSenders senders) {
    this.senders = senders;
  }

  @GET
  public Response ofApi() {
    return of(ProtectedResource.API);
  }

  @GET
  @Path("mcp")
  public Response ofMcp() {
    return of(ProtectedResource.MCP);
  }

  @GET
  @Path("mcp/admin")
  public Response ofMcpAdmin() {
    return of(ProtectedResource.MCP_ADMIN);
  }

  private Response of(ProtectedResource resource) {
    Map<String, Object> metadata = senders.metadata(resource);
    if (metadata == null) {
      throw Problem.of(
          ErrorCode.NOT_FOUND,
          "This Roost takes no access tokens (setting roost.oauth.issuer). Use an API key.");
    }
    return Response.ok(metadata)
        .header("Access-Control-Allow-Origin", "*")
        .header("Cache-Control", "max-age=300")
        .build();
  }
}
