package dev.roost.datastore;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Problem.FieldError;
import dev.roost.config.RoostConfig;
import dev.roost.db.TransientErrors;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * One import: reads lines and stores them in batches, each in its own transaction. At most one
 * batch and one line are in memory. Every error reports the progress.
 */
final class Import {
  private static final int BATCH_LINES = 1_000;
  private static final long BATCH_BYTES = 4L << 20;
  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  private final Transactions transactions;
  private final RoostConfig.Limits limits;
  private final String storeId;
  private final Instant now;
  private final long maxBytes;

  /** By key: a transaction writes a key once, so the last line of a key is stored. */
  private final Map<String, Write> batch = new LinkedHashMap<>();

  private long batchLines;
  private long batchBytes;
  private long batchExpired;

  /** The first line that is not stored yet. */
  private long firstOpenLine = 1;

  private long imported;
  private long expired;

  /**
   * @param now entries that have expired by this time are skipped
   * @param maxBytes the most bytes to read
   */
  Import(
      Transactions transactions,
      RoostConfig.Limits limits,
      String storeId,
      Instant now,
      long maxBytes) {
    this.transactions = transactions;
    this.limits = limits;
    this.storeId = storeId;
    this.now = now;
    this.maxBytes = maxBytes;
  }

  /** The result of the import; blank lines aren't counted. */
  @Schema(name = "Imported")
  public record Result(
      @Schema(description = "The number of lines that were stored", examples = "1200")
          long imported,
      @Schema(
              description = "The number of lines that were skipped because they had expired",
              examples = "3")
          long expired) {}

  /**
   * @throws Problem malformed_json, validation_failed, too_large, store_full, not_found,
   *     unavailable: earlier batches are stored
   */
  Result run(InputStream body) {
    Lines lines = new Lines(body, PortableLine.maxBytes(limits));
    for (byte[] line = next(lines); line != null; line = next(lines)) {
      if (isBlank(line)) {
        continue;
      }
      PortableLine entry;
      try {
        entry = PortableLine.parse(line, limits);
      } catch (Problem mistake) {
        throw at(lines.number(), mistake);
      }
      if (batchLines == BATCH_LINES || batchBytes + line.length > BATCH_BYTES) {
        store(lines.number());
      }
      add(entry, line.length);
    }
    store(lines.number() + 1);
    return new Result(imported, expired);
  }

  private byte[] next(Lines lines) {
    byte[] line;
    try {
      line = lines.next();
    } catch (Lines.TooLong e) {
      throw at(lines.number(), tooLarge("The line", PortableLine.maxBytes(limits)));
    } catch (TimedStream.TooSlow e) {
      throw at(
          lines.number(),
          Problem.of(
              ErrorCode.REQUEST_TIMEOUT, "The import timed out. Send the lines in smaller parts."));
    } catch (IOException e) {
      // The client is gone or silent, so nobody reads this message.
      throw at(
          lines.number(), Problem.of(ErrorCode.MALFORMED_JSON, "The request body is incomplete."));
    }
    if (lines.bytes() > maxBytes) {
      throw at(lines.number(), tooLarge("The request", maxBytes));
    }
    if (line != null && lines.number() == 1 && startsWithMark(line)) {
      throw at(
          1,
          Problem.of(
              ErrorCode.MALFORMED_JSON,
              "The line begins with a byte order mark. Send UTF-8 without one."));
    }
    return line;
  }

  private void add(PortableLine entry, long bytes) {
    batchLines++;
    batchBytes += bytes;
    if (entry.expiresAt() != null && !entry.expiresAt().isAfter(now)) {
      batchExpired++;
      return;
    }
    batch.put(
        entry.key(),
        new Write.Set(entry.key(), entry.value(), entry.ttlSeconds(), entry.expiresAt()));
  }

  /**
   * Stores the batch.
   *
   * @param nextLine the first line after the batch
   */
  private void store(long nextLine) {
    if (!batch.isEmpty()) {
      try {
        transactions.run(
            Access.ofClient(storeId),
            new Transaction(List.of(), List.of(), List.copyOf(batch.values())));
      } catch (RuntimeException e) {
        throw refused(nextLine - 1, e);
      }
    }
    imported += batchLines - batchExpired;
    expired += batchExpired;
    firstOpenLine = nextLine;
    batch.clear();
    batchLines = 0;
    batchBytes = 0;
    batchExpired = 0;
  }

  private RuntimeException refused(long lastLine, RuntimeException e) {
    Problem problem;
    if (e instanceof Problem known) {
      problem = known;
    } else if (TransientErrors.isTransient(e)) {
      problem = Problem.databaseUnreachable();
    } else {
      return e;
    }
    String detail = "the batch up to line %d: %s".formatted(lastLine, problem.getMessage());
    return at(firstOpenLine, problem.with(detail, problem.errors()));
  }

  /** The problem of a line, with the import's progress. */
  private Problem at(long line, Problem problem) {
    String progress = "Nothing is stored.";
    if (firstOpenLine == 2) {
      progress = "Line 1 is stored, nothing after it.";
    } else if (firstOpenLine > 2) {
      progress =
          "The %d lines before line %d are stored, nothing after them."
              .formatted(firstOpenLine - 1, firstOpenLine);
    }
    String detail = "line %d: %s %s".formatted(line, problem.getMessage(), progress);
    return problem.with(
        detail,
        problem.errors().stream()
            .map(error -> new FieldError(error.pointer(), (int) line, error.code(), error.detail()))
            .toList());
  }

  private static Problem tooLarge(String what, long maxBytes) {
    return Problem.of(ErrorCode.TOO_LARGE, "%s has more than %,d bytes.".formatted(what, maxBytes));
  }

  private static boolean isBlank(byte[] line) {
    for (byte b : line) {
      if (b != ' ' && b != '\t' && b != '\r') {
        return false;
      }
    }
    return true;
  }

  private static boolean startsWithMark(byte[] line) {
    return line.length >= BYTE_ORDER_MARK.length
        && Arrays.equals(Arrays.copyOf(line, BYTE_ORDER_MARK.length), BYTE_ORDER_MARK);
  }
}
