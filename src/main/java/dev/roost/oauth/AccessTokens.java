package dev.roost.oauth;

import dev.roost.config.RoostConfig;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/**
 * The access tokens that this server takes; none without the setting {@code roost.oauth.issuer}.
 */
@ApplicationScoped
public class AccessTokens {
  private final Optional<String> issuer;
  private final IssuerKeys keys;
  private final TokenVerifier verifier;

  AccessTokens(RoostConfig config, Clock clock) {
    this.issuer = config.oauth().issuer();
    if (issuer.isEmpty()) {
      this.keys = null;
      this.verifier = null;
      return;
    }
    RoostConfig.Oauth settings = config.oauth();
    String publicUrl = config.publicUrl().orElseThrow().replaceAll("/+$", "");
    List<String> audiences =
        settings
            .audience()
            .orElseGet(() -> List.of(publicUrl, publicUrl + "/mcp", publicUrl + "/mcp/admin"));
    this.keys = new IssuerKeys(new IssuerClient(issuer.get(), settings)::keys, System::nanoTime);
    this.verifier =
        new TokenVerifier(
            issuer.get(), audiences, new RolesClaim(settings.rolesClaim()), keys, clock);
  }

  /** So that the first token need not wait. */
  void start(@Observes StartupEvent event) {
    if (keys != null) {
      keys.refreshIf(IssuerKeys.PAUSE);
    }
  }

  /** Empty: no tokens are taken. */
  public Optional<String> issuer() {
    return issuer;
  }

  /**
   * Verifies a token. May block until the issuer has sent its keys.
   *
   * @throws TokenRefused the token is not valid
   * @throws KeysMissing no token can be verified now
   */
  public AccessToken verify(String token) throws TokenRefused, KeysMissing {
    return verifier.verify(token);
  }
}
