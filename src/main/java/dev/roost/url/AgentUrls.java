package dev.roost.url;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentDeletion;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.webhook.Secret;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;

/** The URLs of agents in the database. */
@ApplicationScoped
class AgentUrls {
  private static final Sql OF_AGENT =
      Sql.of(
          """
          select u.*, a.name as agent_name from agent_url u join agent a on a.id = u.agent_id
          where u.agent_id = :agent and a.deleted_at is null""");

  private static final Sql NAMED =
      Sql.of(
          """
          select u.*, a.name as agent_name from agent a join agent_url u on u.agent_id = a.id
          where a.name = :name and a.deleted_at is null""");

  private static final Sql PUT =
      Sql.of(
          """
          insert into agent_url (agent_id, methods, mode, format, authentication, signature_scheme, secret, previous_secret,
            previous_secret_until, cors_origins, requests_per_minute, wait_seconds, created_at, updated_at)
          values (:agent, :methods, :mode, :format, :authentication, cast(:scheme as text), cast(:secret as text),
            cast(:previous as text), cast(:until as timestamptz), :origins, cast(:limit as int), :wait, :now, :now)
          on conflict (agent_id) do update set methods = excluded.methods, mode = excluded.mode, format = excluded.format,
            authentication = excluded.authentication, signature_scheme = excluded.signature_scheme,
            secret = excluded.secret, previous_secret = excluded.previous_secret,
            previous_secret_until = excluded.previous_secret_until, cors_origins = excluded.cors_origins,
            requests_per_minute = excluded.requests_per_minute, wait_seconds = excluded.wait_seconds,
            updated_at = excluded.updated_at""");

  private static final Sql DELETE = Sql.of("delete from agent_url where agent_id = :agent");

  private final EntityManager entities;
  private final Database database;
  private final Clock clock;

  AgentUrls(EntityManager entities, Database database, Clock clock) {
    this.entities = entities;
    this.database = database;
    this.clock = clock;
  }

  /**
   * @param created whether the agent had no URL before
   * @param isNewSecret whether the request has set or generated the secret
   */
  record Put(AgentUrl url, boolean created, boolean isNewSecret) {}

  /** The URL of the agent with that name. */
  Optional<AgentUrl> find(String agentName) {
    if (Text.unstorable(agentName).isPresent()) {
      return Optional.empty();
    }
    Sql.Bound select = NAMED.with("name", agentName);
    return database.once(connection -> select.first(connection, AgentUrl::read));
  }

  /**
   * @throws Problem not_found: there is no such agent, or it has no URL
   */
  AgentUrl get(String agentId) {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              Agent.require(agentId);
              return ofAgent(agentId).orElseThrow(() -> notFound(agentId));
            });
  }

  /**
   * Creates or replaces the URL.
   *
   * @throws Problem not_found, validation_failed: a secret is missing
   */
  Put put(String agentId, AgentUrlRequest request) {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              Agent.lock(agentId);
              Optional<AgentUrl> before = ofAgent(agentId);
              AgentUrl same =
                  before
                      .filter(url -> url.signatureScheme() == request.signatureScheme())
                      .filter(url -> url.secret() != null)
                      .orElse(null);
              String kept = same == null ? null : same.secret();
              String secret = secret(request, kept);
              boolean isNewSecret = secret != null && !secret.equals(kept);
              Instant now = clock.instant();
              Previous previous = isNewSecret ? before(request, kept, now) : Previous.of(same);
              PUT.with("agent", agentId)
                  .with("methods", request.methods().toArray(String[]::new))
                  .with("mode", request.mode())
                  .with("format", request.format())
                  .with("authentication", request.authentication())
                  .with("scheme", request.signatureScheme())
                  .with("secret", secret)
                  .with("previous", previous.secret())
                  .with("until", previous.until())
                  .with("origins", request.corsOrigins().toArray(String[]::new))
                  .with("limit", request.requestsPerMinute())
                  .with("wait", request.waitSeconds())
                  .with("now", now)
                  .update(entities);
              return new Put(ofAgent(agentId).orElseThrow(), before.isEmpty(), isNewSecret);
            });
  }

  /** A secret that was replaced; both are null if there is none. */
  private record Previous(String secret, Instant until) {
    static Previous of(AgentUrl url) {
      return url == null
          ? new Previous(null, null)
          : new Previous(url.previousSecret(), url.previousSecretUntil());
    }
  }

  private static Previous before(AgentUrlRequest request, String replaced, Instant now) {
    boolean isKept = replaced != null && request.previousSecretSeconds() > 0;
    return isKept
        ? new Previous(replaced, now.plusSeconds(request.previousSecretSeconds()))
        : new Previous(null, null);
  }

  /**
   * @param kept the secret so far, or null
   */
  private static String secret(AgentUrlRequest request, String kept) {
    if (request.authentication() != UrlAuthentication.SIGNATURE) {
      return null;
    }
    if (request.secret() != null) {
      return request.secret();
    }
    if (kept != null) {
      return kept;
    }
    if (request.signatureScheme() == SignatureScheme.STANDARD_WEBHOOKS) {
      return Secret.make();
    }
    throw Problem.invalid(
        "/secret",
        "required",
        "secret is required: the one that the sender signs with, which it shows or lets you choose.");
  }

  /**
   * @throws Problem not_found
   */
  void delete(String agentId) {
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              Agent.lock(agentId);
              if (DELETE.with("agent", agentId).update(entities) == 0) {
                throw notFound(agentId);
              }
            });
  }

  void end(@Observes AgentDeletion deletion) {
    DELETE.with("agent", deletion.agentId()).update(entities);
  }

  private Optional<AgentUrl> ofAgent(String agentId) {
    return OF_AGENT.with("agent", agentId).first(entities, AgentUrl::read);
  }

  private static Problem notFound(String agentId) {
    return Problem.notFound("URL of the agent", agentId);
  }
}
