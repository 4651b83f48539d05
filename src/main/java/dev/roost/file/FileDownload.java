package dev.roost.file;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.cluster.OpenStreams;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.RestMulti;

/** Sends files, a part at a time: the next one is read when the one before has been sent. */
@ApplicationScoped
class FileDownload {
  private static final Logger LOG = Logger.getLogger(FileDownload.class);

  /** What a script has made must not run as a page of this server. */
  private static final String POLICY = "default-src 'none'; sandbox";

  private final Files files;
  private final OpenStreams streams;

  FileDownload(Files files, OpenStreams streams) {
    this.files = files;
    this.streams = streams;
  }

  /**
   * The response with a file, or with the bytes that the request asks for.
   *
   * @param range the header, or null
   * @throws Problem conflict: it isn't complete
   */
  Multi<byte[]> send(StoredFile file, String range, RoutingContext context) {
    if (file.state() != FileState.STORED) {
      throw Problem.of(ErrorCode.CONFLICT, "The file %s is being uploaded.".formatted(file.id()));
    }
    Optional<ByteRange> asked = asked(file, range);
    ByteRange bytes = asked.orElse(new ByteRange(0, file.sizeBytes() - 1));
    streams.begin();
    Multi<byte[]> pieces =
        Multi.createBy()
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
    RestMulti.SyncRestMulti.Builder<byte[]> response =
        RestMulti.fromMultiData(pieces)
            .header("Content-Type", file.contentType())
            .header("Content-Length", Long.toString(bytes.length()))
            .header("Content-Disposition", disposition(file.name()))
            .header("Accept-Ranges", "bytes")
            .header("ETag", "\"" + file.sha256() + "\"")
            .header("X-Content-Type-Options", "nosniff")
            .header("Content-Security-Policy", POLICY);
    if (asked.isPresent()) {
      response
          .status(206)
          .header(
              "Content-Range",
              "bytes %d-%d/%d".formatted(bytes.first(), bytes.last(), file.sizeBytes()));
    }
    return response.build();
  }

  private static Optional<ByteRange> asked(StoredFile file, String range) {
    try {
      return ByteRange.parse(range, file.sizeBytes());
    } catch (ByteRange.Unsatisfiable e) {
      throw Problem.of(
          ErrorCode.RANGE_NOT_SATISFIABLE,
          "The file has %,d bytes; the request asks for others.".formatted(file.sizeBytes()));
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

    /** The bytes of the next part; empty: all are sent. */
    byte[] next() {
      if (next > bytes.last()) {
        return new byte[0];
      }
      int part = (int) (next / StoredFile.PART_BYTES);
      long begin = (long) part * StoredFile.PART_BYTES;
      byte[] whole = files.read(file, part);
      int from = (int) (next - begin);
      int to = (int) Math.min(whole.length, bytes.last() - begin + 1);
      if (from >= to) {
        throw new IllegalStateException("the part " + part + " of " + file.id() + " is too short");
      }
      next = begin + to;
      return from == 0 && to == whole.length ? whole : Arrays.copyOfRange(whole, from, to);
    }
  }
}
