package dev.roost.cluster;

import dev.roost.api.Caller;
import dev.roost.api.Credential;
import dev.roost.api.ErrorCode;
import dev.roost.api.KeyDeleted;
import dev.roost.api.Problem;
import dev.roost.api.SessionEnded;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.oauth.AccessToken;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.vertx.http.runtime.CurrentVertxRequest;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jboss.logging.Logger;

/**
 * The open streaming responses of this process. Their number is limited, and a stream is closed
 * when its API key or session ends.
 */
@ApplicationScoped
public class OpenStreams {
  private static final Logger LOG = Logger.getLogger(OpenStreams.class);
  private static final int RETRY_AFTER_SECONDS = 5;

  /**
   * The longest time that a stream outlives its key when the notification of another replica is
   * lost.
   */
  private static final int CHECK_SECONDS = 15;

  private static final Sql GONE_KEYS =
      Sql.of(
          """
          select id from unnest(:keys) id where not exists (select 1 from api_key k where k.id = id.id)""");

  private static final Sql GONE_SESSIONS =
      Sql.of(
          """
          select id from unnest(:sessions) id where not exists (
            select 1 from login_session s
            where s.secret_sha256 = decode(id.id, 'hex') and s.expires_at > :now)""");

  /** Without a key. */
  private static final Credential LINK = new Credential(null, null, null);

  private final int most;
  private final int mostOfKey;
  private final Caller caller;
  private final CurrentVertxRequest request;
  private final Database database;
  private final Clock clock;
  private final ScheduledExecutorService timer;
  private final Set<Stream> open = ConcurrentHashMap.newKeySet();
  private volatile ScheduledFuture<?> checks;

  OpenStreams(
      RoostConfig config,
      Caller caller,
      CurrentVertxRequest request,
      Database database,
      Clock clock,
      ScheduledExecutorService timer) {
    this.most = config.limits().streams();
    this.mostOfKey = config.limits().streamsPerKey();
    this.caller = caller;
    this.request = request;
    this.database = database;
    this.clock = clock;
    this.timer = timer;
  }

  /**
   * One open stream; compared by identity.
   *
   * @param keyId null: opened by a link, without a key
   * @param sessionId null: authenticated by the key's text
   */
  private static final class Stream {
    final String keyId;
    final String sessionId;
    final Runnable close;

    Stream(String keyId, String sessionId, Runnable close) {
      this.keyId = keyId;
      this.sessionId = sessionId;
      this.close = close;
    }
  }

  /**
   * Counts the response to the current request as a stream until the response ends.
   *
   * @throws Problem rate_limited
   */
  public void begin() {
    begin(() -> {});
  }

  /**
   * @param ended runs when the stream ends
   * @throws Problem rate_limited
   */
  public void begin(Runnable ended) {
    ofRequest(caller.credential(), ended);
  }

  /**
   * The same for a request without a key. All of them together count as those of one key.
   *
   * @throws Problem rate_limited
   */
  public void beginWithoutKey() {
    ofRequest(LINK, () -> {});
  }

  private void ofRequest(Credential credential, Runnable ended) {
    RoutingContext routing = request.getCurrent();
    // A reset ends the connection (HTTP/1.1) or the stream (HTTP/2), even with unsent data.
    Runnable end = begin(credential, () -> routing.response().reset());
    routing.addEndHandler(
        result -> {
          end.run();
          ended.run();
        });
  }

  /**
   * @param close ends the stream, because its credential has ended
   * @return an action that ends the count
   * @throws Problem rate_limited
   */
  public Runnable begin(Credential credential, Runnable close) {
    String keyId = credential.keyId();
    Stream stream = new Stream(keyId, credential.sessionId(), close);
    synchronized (open) {
      if (most > 0 && open.size() >= most) {
        throw tooMany("This Roost has", most, "streams");
      }
      if (mostOfKey > 0
          && open.stream().filter(other -> Objects.equals(other.keyId, keyId)).count()
              >= mostOfKey) {
        throw tooMany(keyId == null ? "Links have" : "This key has", mostOfKey, "streams-per-key");
      }
      open.add(stream);
    }
    if (credential.expiresAt() == null) {
      return () -> open.remove(stream);
    }
    long millis = Duration.between(clock.instant(), credential.expiresAt()).toMillis();
    Future<?> expiry =
        timer.schedule(() -> close(stream::equals), Math.max(millis, 0), TimeUnit.MILLISECONDS);
    return () -> {
      open.remove(stream);
      expiry.cancel(false);
    };
  }

  private static Problem tooMany(String who, int limit, String setting) {
    return Problem.retryLater(
        ErrorCode.RATE_LIMITED,
        ("%s %,d open streams, which is the limit (setting roost.limits.%s). Close one, or retry "
                + "later.")
            .formatted(who, limit, setting),
        RETRY_AFTER_SECONDS);
  }

  void start(@Observes StartupEvent event) {
    checks =
        timer.scheduleWithFixedDelay(this::check, CHECK_SECONDS, CHECK_SECONDS, TimeUnit.SECONDS);
  }

  void stop(@Observes ShutdownEvent event) {
    checks.cancel(false);
  }

  void keyDeleted(@Observes KeyDeleted event) {
    closeOfKey(event.keyId());
  }

  void sessionEnded(@Observes SessionEnded event) {
    closeOfSession(event.sessionId());
  }

  void hintsLost(@Observes NotificationsLost event) {
    check();
  }

  public void closeOfKey(String keyId) {
    close(stream -> keyId.equals(stream.keyId));
  }

  public void closeOfSession(String sessionId) {
    close(stream -> sessionId.equals(stream.sessionId));
  }

  /** Closes streams whose key or session has ended without a notification. */
  void check() {
    String[] keys =
        open.stream()
            .map(stream -> stream.keyId)
            .filter(id -> id != null && !AccessToken.isSubject(id))
            .distinct()
            .toArray(String[]::new);
    if (keys.length == 0) {
      return;
    }
    String[] sessions =
        open.stream()
            .map(stream -> stream.sessionId)
            .filter(Objects::nonNull)
            .distinct()
            .toArray(String[]::new);
    try {
      database.once(
          connection -> {
            GONE_KEYS.with("keys", keys).strings(connection).forEach(this::closeOfKey);
            if (sessions.length > 0) {
              GONE_SESSIONS
                  .with("sessions", sessions)
                  .with("now", clock.instant())
                  .strings(connection)
                  .forEach(this::closeOfSession);
            }
            return null;
          });
    } catch (Database.Failure e) {
      LOG.debugf("the API keys of open streams cannot be checked: %s", e.getMessage());
    }
  }

  private void close(Predicate<Stream> which) {
    for (Stream stream : open) {
      if (which.test(stream) && open.remove(stream)) {
        stream.close.run();
      }
    }
  }
}
