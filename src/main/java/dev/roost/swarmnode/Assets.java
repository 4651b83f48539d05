package dev.roost.swarmnode;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentDeletion;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.config.RoostConfig;
import dev.roost.db.Conditions;
import dev.roost.db.Sql;
import dev.roost.file.Files;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.persistence.EntityManager;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Assets and the requests to store them. A file is uploaded for a request; its confirmation makes
 * it an asset.
 */
@ApplicationScoped
class Assets {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int KEY_BYTES = 32;
  private static final int MOST_NAME_CHARACTERS = 255;
  private static final int EXPIRED_AT_ONCE = 100;

  private static final Sql INSERT_REQUEST =
      Sql.of(
          """
          insert into swarmnode_storage_request (id, asset_name, agent_id, upload_key, created_at, expires_at)
          values (:id, :name, cast(:agent as text), :key, :now, :expires)""");

  private static final Sql FIND_REQUEST =
      Sql.of(
          "select "
              + UploadRequest.COLUMNS
              + " from swarmnode_storage_request r where r.id = :id and r.expires_at > :now");

  /** One upload for each request. */
  private static final Sql UPLOADED =
      Sql.of(
          """
          update swarmnode_storage_request set file_id = :file
          where id = :id and file_id is null and expires_at > :now""");

  private static final Sql TAKE_REQUEST =
      Sql.of(
          """
          delete from swarmnode_storage_request r
          where r.id = :id and r.file_id is not null and r.expires_at > :now
          returning\s"""
              + UploadRequest.COLUMNS);

  private static final Sql TAKE_EXPIRED =
      Sql.of(
          """
          delete from swarmnode_storage_request r where r.id = any(array(
            select e.id from swarmnode_storage_request e where e.expires_at <= :now
            order by e.expires_at limit :limit for update skip locked))
          returning\s"""
              + UploadRequest.COLUMNS);

  private static final Sql TAKE_REQUESTS_OF_AGENT =
      Sql.of(
          "delete from swarmnode_storage_request r where r.agent_id = :agent returning "
              + UploadRequest.COLUMNS);

  private static final Sql INSERT =
      Sql.of(
          """
          insert into swarmnode_asset as a (id, name, agent_id, file_id, created_at)
          values (:id, :name, cast(:agent as text), :file, :now) returning\s"""
              + StoredAsset.COLUMNS);

  private static final Sql FIND =
      Sql.of("select " + StoredAsset.COLUMNS + " from swarmnode_asset a where a.id = :id");

  private static final Sql TAKE =
      Sql.of("delete from swarmnode_asset a where a.id = :id returning " + StoredAsset.COLUMNS);

  private static final Sql TAKE_OF_AGENT =
      Sql.of(
          "delete from swarmnode_asset a where a.agent_id = :agent returning "
              + StoredAsset.COLUMNS);

  private final EntityManager entities;
  private final Duration lifetime;
  private final Clock clock;

  Assets(EntityManager entities, RoostConfig config, Clock clock) {
    this.entities = entities;
    this.lifetime = config.swarmnode().uploadLifetime();
    this.clock = clock;
  }

  /**
   * @param agentId or null
   * @throws Problem not_found: there is no such agent; validation_failed
   */
  UploadRequest request(String name, String agentId) {
    if (name.isBlank()
        || name.length() > MOST_NAME_CHARACTERS
        || name.chars().anyMatch(Character::isISOControl)) {
      throw Problem.invalid(
          "/asset_name",
          "malformed",
          "asset_name must have 1 to %d characters, without control characters."
              .formatted(MOST_NAME_CHARACTERS));
    }
    Instant now = clock.instant();
    byte[] key = new byte[KEY_BYTES];
    RANDOM.nextBytes(key);
    UploadRequest request =
        new UploadRequest(
            Ids.next(CompatIds.STORAGE_REQUEST.prefix()),
            name,
            agentId,
            key,
            null,
            now.plus(lifetime).truncatedTo(ChronoUnit.SECONDS));
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              lockAgent(agentId);
              INSERT_REQUEST
                  .with("id", request.id())
                  .with("name", name)
                  .with("agent", agentId)
                  .with("key", key)
                  .with("now", now)
                  .with("expires", request.expiresAt())
                  .update(entities);
            });
    return request;
  }

  /** The lock orders this before or after the agent's deletion. */
  private static void lockAgent(String agentId) {
    if (agentId != null) {
      Agent.lock(agentId);
    }
  }

  /** A request that has not expired. */
  Optional<UploadRequest> findRequest(String id) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                FIND_REQUEST
                    .with("id", id)
                    .with("now", clock.instant())
                    .first(entities, UploadRequest::read));
  }

  /**
   * Records what was uploaded for a request.
   *
   * @return false: the request has expired, or has an upload
   */
  boolean uploaded(String requestId, String fileId) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                UPLOADED
                        .with("id", requestId)
                        .with("file", fileId)
                        .with("now", clock.instant())
                        .update(entities)
                    == 1);
  }

  /**
   * Makes an asset of what was uploaded.
   *
   * @throws Problem not_found: there is no such request; conflict: nothing was uploaded
   */
  StoredAsset confirm(String requestId) {
    UploadRequest found =
        findRequest(requestId)
            .orElseThrow(
                () -> CompatIds.STORAGE_REQUEST.absent(CompatIds.STORAGE_REQUEST.uuid(requestId)));
    Instant now = clock.instant();
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              lockAgent(found.agentId());
              UploadRequest request =
                  TAKE_REQUEST
                      .with("id", requestId)
                      .with("now", now)
                      .first(entities, UploadRequest::read)
                      .filter(taken -> Files.keep(entities, taken.fileId()))
                      .orElseThrow(Assets::nothingUploaded);
              return INSERT
                  .with("id", Ids.next(CompatIds.ASSET.prefix()))
                  .with("name", request.assetName())
                  .with("agent", request.agentId())
                  .with("file", request.fileId())
                  .with("now", now)
                  .first(entities, StoredAsset::read)
                  .orElseThrow();
            });
  }

  private static Problem nothingUploaded() {
    return Problem.of(
        ErrorCode.CONFLICT, "Nothing has been uploaded for this request, or it is confirmed.");
  }

  Optional<StoredAsset> find(String id) {
    return QuarkusTransaction.requiringNew()
        .call(() -> FIND.with("id", id).first(entities, StoredAsset::read));
  }

  /** Some assets, newest first, and how many there are. */
  record Found(List<StoredAsset> assets, long total) {}

  /**
   * @param agentId null: all assets
   */
  Found list(String agentId, NumberedPage.Position position) {
    Conditions conditions = new Conditions().and("a.agent_id = :agent", "agent", agentId);
    String from = " from swarmnode_asset a where " + conditions.text();
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                new Found(
                    conditions
                        .bind(
                            "select "
                                + StoredAsset.COLUMNS
                                + from
                                + " order by a.id desc limit :size offset :first")
                        .with("size", position.size())
                        .with("first", position.first())
                        .list(entities, StoredAsset::read),
                    conditions
                        .bind("select count(*) as total" + from)
                        .first(entities, row -> row.getLong("total"))
                        .orElseThrow()));
  }

  /**
   * @return false: there is no such asset
   */
  boolean delete(String id) {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              List<StoredAsset> taken = TAKE.with("id", id).list(entities, StoredAsset::read);
              release(taken.stream().map(StoredAsset::fileId).toList());
              return !taken.isEmpty();
            });
  }

  /** In the transaction that deletes the agent. */
  void deleteAll(@Observes AgentDeletion deletion) {
    List<StoredAsset> assets =
        TAKE_OF_AGENT.with("agent", deletion.agentId()).list(entities, StoredAsset::read);
    release(assets.stream().map(StoredAsset::fileId).toList());
    List<UploadRequest> requests =
        TAKE_REQUESTS_OF_AGENT
            .with("agent", deletion.agentId())
            .list(entities, UploadRequest::read);
    release(requests.stream().map(UploadRequest::fileId).filter(Objects::nonNull).toList());
  }

  /**
   * Ends expired requests, with what was uploaded for them.
   *
   * @return whether there may be more
   */
  boolean removeExpired() {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              List<UploadRequest> expired =
                  TAKE_EXPIRED
                      .with("now", clock.instant())
                      .with("limit", EXPIRED_AT_ONCE)
                      .list(entities, UploadRequest::read);
              release(
                  expired.stream().map(UploadRequest::fileId).filter(Objects::nonNull).toList());
              return expired.size() == EXPIRED_AT_ONCE;
            });
  }

  private void release(List<String> files) {
    if (!files.isEmpty()) {
      Files.release(entities, files);
    }
  }
}
