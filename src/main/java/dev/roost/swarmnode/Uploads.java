package dev.roost.swarmnode;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.config.RoostConfig;
import dev.roost.file.Files;
import dev.roost.file.StoredFile;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerFileUpload;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.net.URLConnection;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.logging.Logger;

/**
 * Takes the content of assets: forms that browsers and libraries send, with the content in the part
 * {@code file}. It is stored while it arrives, so an upload has one part of a file in memory.
 */
@ApplicationScoped
class Uploads {
  /** The field of the form that has to be sent back. */
  static final String KEY = "key";

  private static final Logger LOG = Logger.getLogger(Uploads.class);
  private static final String FILE = "file";

  /** Each has up to two parts of a file in memory. */
  private static final int MOST_AT_ONCE = 8;

  private static final long RETRY_SECONDS = 5;

  /** Of everything but the content. */
  private static final int FORM_BYTES = 64 << 10;

  private static final int NO_CONTENT = 204;

  private final Assets assets;
  private final Files files;
  private final RouteErrors errors;
  private final long mostBytes;
  private final AtomicInteger open = new AtomicInteger();

  Uploads(Assets assets, Files files, RouteErrors errors, RoostConfig config) {
    this.assets = assets;
    this.files = files;
    this.errors = errors;
    this.mostBytes = config.swarmnode().assetBytes();
  }

  void routes(@Observes Router router) {
    router
        .post(CompatPaths.UPLOADS + ":id/")
        .order(RouteErrors.EARLY)
        .handler(this::receive)
        .failureHandler(context -> errors.refuse(context, context.failure()));
    router
        .route(CompatPaths.UPLOADS + "*")
        .order(RouteErrors.EARLY + 1)
        .handler(context -> errors.refuse(context, ended()));
  }

  private void receive(RoutingContext context) {
    HttpServerRequest request = context.request();
    request.pause();
    if (open.incrementAndGet() > MOST_AT_ONCE) {
      open.decrementAndGet();
      errors.refuse(
          context,
          Problem.retryLater(ErrorCode.OVERLOADED, "Too many uploads at a time.", RETRY_SECONDS));
      return;
    }
    context.addEndHandler(end -> open.decrementAndGet());
    if (RouteErrors.declaredLength(context) > mostBytes + FORM_BYTES) {
      errors.refuse(context, tooLarge());
      return;
    }
    context
        .vertx()
        .executeBlocking(() -> begin(context), false)
        .onSuccess(Upload::start)
        .onFailure(e -> errors.refuse(context, e));
  }

  /**
   * @throws Problem not_found, validation_failed, conflict, storage_full
   */
  private Upload begin(RoutingContext context) {
    HttpServerRequest http = context.request();
    String uuid = context.pathParam("id");
    String expires = Optional.ofNullable(http.getParam("expires")).orElse("");
    String signature = Optional.ofNullable(http.getParam("signature")).orElse("");
    UploadRequest request =
        assets
            .findRequest(CompatIds.STORAGE_REQUEST.id(uuid))
            .filter(found -> expires.equals(Long.toString(found.expiresAt().getEpochSecond())))
            .filter(found -> found.isSigned(found.expiresAt().getEpochSecond(), signature))
            .orElseThrow(Uploads::ended);
    if (request.fileId() != null) {
      throw alreadyUploaded();
    }
    String type = Optional.ofNullable(http.getHeader("Content-Type")).orElse("");
    if (!type.regionMatches(true, 0, "multipart/form-data", 0, "multipart/form-data".length())) {
      throw Problem.of(
          ErrorCode.UNSUPPORTED_MEDIA_TYPE, "Send the content as multipart/form-data.");
    }
    String name = request.assetName().replaceAll("[/\\\\]", "_").replaceAll("^\\.{1,2}$", "_");
    StoredFile file = files.begin(name, URLConnection.guessContentTypeFromName(name), null);
    return new Upload(context, uuid, request, file.id());
  }

  private static Problem ended() {
    return Problem.of(
        ErrorCode.NOT_FOUND, "The upload URL has ended, or is incomplete. Request another one.");
  }

  private static Problem alreadyUploaded() {
    return Problem.of(ErrorCode.CONFLICT, "The content was uploaded already.");
  }

  private Problem tooLarge() {
    return Problem.of(
        ErrorCode.TOO_LARGE,
        "An asset can have %,d bytes (setting roost.swarmnode.asset-bytes).".formatted(mostBytes));
  }

  /** One upload; all of it but the storing happens on the event loop of the connection. */
  private final class Upload {
    private final RoutingContext context;
    private final String uuid;
    private final UploadRequest request;
    private final String fileId;

    /** What has arrived and isn't being stored yet. */
    private Buffer rest = Buffer.buffer();

    private Future<Void> stored = Future.succeededFuture();
    private long bytes;
    private int parts;
    private boolean hasFile;
    private boolean hasEnded;

    Upload(RoutingContext context, String uuid, UploadRequest request, String fileId) {
      this.context = context;
      this.uuid = uuid;
      this.request = request;
      this.fileId = fileId;
    }

    void start() {
      HttpServerRequest http = context.request();
      try {
        http.setExpectMultipart(true);
      } catch (IllegalStateException e) {
        fail(unreadable(e));
        return;
      }
      http.exceptionHandler(e -> fail(unreadable(e)));
      http.uploadHandler(this::receive);
      http.endHandler(end -> finish());
      context.addEndHandler(end -> abort());
      http.resume();
    }

    private void receive(HttpServerFileUpload upload) {
      if (hasFile || !upload.name().equals(FILE)) {
        fail(Problem.invalid("/" + FILE, "malformed", "The form must have one part \"file\"."));
        return;
      }
      hasFile = true;
      upload.exceptionHandler(e -> fail(unreadable(e)));
      upload.handler(
          piece -> {
            bytes += piece.length();
            if (hasEnded) {
              return;
            }
            if (bytes > mostBytes) {
              fail(tooLarge());
              return;
            }
            rest.appendBuffer(piece);
            if (rest.length() >= StoredFile.PART_BYTES) {
              upload.pause();
              storeWhole().onSuccess(done -> upload.resume()).onFailure(this::fail);
            }
          });
    }

    /** Stores the whole parts of what has arrived, one after the other. */
    private Future<Void> storeWhole() {
      while (rest.length() >= StoredFile.PART_BYTES) {
        store(rest.getBytes(0, StoredFile.PART_BYTES));
        rest = rest.getBuffer(StoredFile.PART_BYTES, rest.length());
      }
      return stored;
    }

    private void store(byte[] part) {
      int number = parts++;
      stored =
          stored.compose(
              before ->
                  context
                      .vertx()
                      .executeBlocking(
                          () -> {
                            files.part(fileId, null, number, part);
                            return null;
                          },
                          false));
    }

    private void finish() {
      if (hasEnded) {
        return;
      }
      if (!hasFile) {
        fail(Problem.invalid("/" + FILE, "required", "The form has no part \"file\"."));
        return;
      }
      if (!uuid.equals(context.request().getFormAttribute(KEY))) {
        fail(Problem.invalid("/" + KEY, "required", "Send the form data, too."));
        return;
      }
      storeWhole();
      if (rest.length() > 0) {
        store(rest.getBytes());
      }
      stored
          .compose(done -> context.vertx().executeBlocking(this::complete, false))
          .onSuccess(
              done -> {
                hasEnded = true;
                context.response().setStatusCode(NO_CONTENT).end();
              })
          .onFailure(this::fail);
    }

    private Void complete() {
      files.complete(fileId, null, bytes, null);
      if (!assets.uploaded(request.id(), fileId)) {
        throw alreadyUploaded();
      }
      return null;
    }

    private void fail(Throwable e) {
      if (!hasEnded) {
        hasEnded = true;
        discard();
        errors.refuse(context, e);
      }
    }

    /** The client has gone. */
    private void abort() {
      if (!hasEnded) {
        hasEnded = true;
        discard();
      }
    }

    /** After what is being stored, so that nothing is stored later. */
    private void discard() {
      stored.onComplete(
          done ->
              context
                  .vertx()
                  .executeBlocking(
                      () -> {
                        files.discard(fileId);
                        return null;
                      },
                      false)
                  .onFailure(e -> LOG.warnf("%s is removed later: %s", fileId, e.getMessage())));
    }

    private static Problem unreadable(Throwable e) {
      return Problem.of(ErrorCode.MALFORMED_JSON, "The form can't be read: " + e.getMessage());
    }
  }
}
