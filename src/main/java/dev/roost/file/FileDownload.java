package dev.roost.file;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.MediaType;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.RestMulti;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** Sends files, a piece at a time: the next one is read when the one before has been sent. */
@ApplicationScoped
public class FileDownload {
  private static final Logger LOG = Logger.getLogger(FileDownload.class);

  /** What a download holds in memory. */
  private static final int PIECE_BYTES = 256 << 10;

  /** What a script has made must not run as a page of this server. */
  private static final String POLICY = "default-src 'none'; sandbox";

  private static final Pattern ACTIVE =
      Pattern.compile("^[^;]*(?:script|css|wasm)", Pattern.CASE_INSENSITIVE);

  private final Files files;

  FileDownload(Files files) {
    this.files = files;
  }

  /**
   * The response with a file, or with the bytes that the request asks for. The caller has begun a
   * stream.
   *
   * @param range the header, or null
   * @throws Problem conflict: it isn't complete
   */
  RestMulti<byte[]> send(StoredFile file, String range, RoutingContext context) {
    requireStored(file);
    // RFC 9110, 13.1.5: the range of another file's bytes is not what is asked for.
    String condition = context.request().getHeader("If-Range");
    boolean isOfThis = condition == null || condition.equals(tag(file));
    Optional<ByteRange> asked = isOfThis ? asked(range, file.sizeBytes()) : Optional.empty();
    ByteRange bytes = asked.orElse(new ByteRange(0, file.sizeBytes() - 1));
    RestMulti.SyncRestMulti.Builder<byte[]> response =
        RestMulti.fromMultiData(pieces(file, bytes, context));
    headers(file, bytes.length()).forEach(response::header);
    asked.ifPresent(part -> markPartial(response, part, file.sizeBytes()));
    return response.build();
  }

  private static void markPartial(
      RestMulti.SyncRestMulti.Builder<byte[]> response, ByteRange part, long size) {
    response
        .status(206)
        .header("Content-Range", "bytes %d-%d/%d".formatted(part.first(), part.last(), size));
  }

  private Multi<byte[]> pieces(StoredFile file, ByteRange bytes, RoutingContext context) {
    // A stream is sent in chunks even if its length is known, which clients couldn't know then.
    context.addHeadersEndHandler(
        end -> context.response().headers().remove(HttpHeaders.TRANSFER_ENCODING));
    return Multi.createBy()
        .repeating()
        .uni(
            () -> new Pieces(file, bytes),
            rest ->
                Uni.createFrom()
                    .item(rest::next)
                    .runSubscriptionOn(Infrastructure.getDefaultWorkerPool()))
        .until(piece -> piece.length == 0)
        .onFailure(e -> context.response().headWritten())
        .invoke(e -> LOG.warnf(e, "the download of %s was aborted", file.id()));
  }

  /**
   * The response with bytes of a file that are a file of their own, with another name, or with
   * those of them that the request asks for. The caller has begun a stream.
   *
   * @param file null: there are no bytes
   * @param range the header, or null
   */
  public RestMulti<byte[]> sendSlice(
      StoredFile file, long from, long length, String name, String range, RoutingContext context) {
    if (file == null) {
      RestMulti.SyncRestMulti.Builder<byte[]> response =
          RestMulti.fromMultiData(Multi.createFrom().empty());
      sliceHeaders(0, name).forEach(response::header);
      return response.build();
    }
    // Slices have no tags, so no condition can hold.
    boolean isConditional = context.request().getHeader("If-Range") != null;
    Optional<ByteRange> asked = isConditional ? Optional.empty() : asked(range, length);
    ByteRange part = asked.orElse(new ByteRange(0, length - 1));
    ByteRange bytes = new ByteRange(from + part.first(), from + part.last());
    RestMulti.SyncRestMulti.Builder<byte[]> response =
        RestMulti.fromMultiData(pieces(file, bytes, context));
    sliceHeaders(part.length(), name).forEach(response::header);
    asked.ifPresent(each -> markPartial(response, each, length));
    return response.build();
  }

  /** What a response with {@link #sendSlice} would say of the bytes. */
  public RestResponse<Void> headSlice(long length, String name) {
    ResponseBuilder<Void> response = ResponseBuilder.ok();
    sliceHeaders(length, name).forEach(response::header);
    return response.build();
  }

  private static Map<String, String> sliceHeaders(long length, String name) {
    return Map.of(
        "Content-Type",
        MediaType.APPLICATION_OCTET_STREAM,
        "Content-Length",
        Long.toString(length),
        "Content-Disposition",
        disposition(name),
        "Accept-Ranges",
        "bytes",
        "Cache-Control",
        "private, no-store",
        "X-Content-Type-Options",
        "nosniff",
        "Content-Security-Policy",
        POLICY);
  }

  /** What a response with the file would say of it. */
  RestResponse<Void> head(StoredFile file) {
    requireStored(file);
    ResponseBuilder<Void> response = ResponseBuilder.ok();
    headers(file, file.sizeBytes()).forEach(response::header);
    return response.build();
  }

  private static void requireStored(StoredFile file) {
    if (file.state() != FileState.STORED) {
      throw Problem.of(ErrorCode.CONFLICT, "The file %s is being uploaded.".formatted(file.id()));
    }
  }

  private static Map<String, String> headers(StoredFile file, long length) {
    return Map.of(
        "Content-Type",
        type(file),
        "Content-Length",
        Long.toString(length),
        "Content-Disposition",
        disposition(file.name()),
        "Accept-Ranges",
        "bytes",
        "ETag",
        tag(file),
        "Cache-Control",
        "private, no-store",
        "X-Content-Type-Options",
        "nosniff",
        "Content-Security-Policy",
        POLICY);
  }

  /**
   * Scripts and styles are text to look at: as what they are, pages of this server could load them.
   */
  private static String type(StoredFile file) {
    return ACTIVE.matcher(file.contentType()).find() ? MediaType.TEXT_PLAIN : file.contentType();
  }

  private static String tag(StoredFile file) {
    return '"' + file.id() + '"';
  }

  private static Optional<ByteRange> asked(String range, long size) {
    try {
      return ByteRange.parse(range, size);
    } catch (ByteRange.Unsatisfiable e) {
      throw Problem.of(
          ErrorCode.RANGE_NOT_SATISFIABLE,
          "The file has %,d bytes; the request asks for others.".formatted(size));
    }
  }

  /** RFC 6266: the name as UTF-8, which all browsers know. */
  private static String disposition(String name) {
    String encoded = URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    return "attachment; filename*=UTF-8''" + encoded;
  }

  /** What is still to be sent. */
  private final class Pieces {
    private final StoredFile file;
    private final ByteRange bytes;
    private long next;

    Pieces(StoredFile file, ByteRange bytes) {
      this.file = file;
      this.bytes = bytes;
      next = bytes.first();
    }

    /** The next bytes; empty: all are sent. */
    byte[] next() {
      if (next > bytes.last()) {
        return new byte[0];
      }
      byte[] piece = files.read(file, next, (int) Math.min(PIECE_BYTES, bytes.last() - next + 1));
      next += piece.length;
      return piece;
    }
  }
}
