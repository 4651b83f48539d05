package dev.roost.api;

import dev.roost.config.RoostConfig.Limits;
import java.util.function.ToLongFunction;

/**
 * The maximum size of a request body in bytes, derived from the limits of its content. JSON may
 * encode a character of a string in up to six bytes.
 */
public enum BodySize {
  /** Requests that need no API key. */
  SIGN_IN(limits -> 8 << 10),
  SMALL(limits -> BodySize.SMALL_BYTES),
  AGENT(
      limits ->
          BodySize.SMALL_BYTES
              + 6L * (limits.scriptBytes() + limits.requirementsBytes() + limits.envVarsBytes())),
  PAYLOAD(limits -> BodySize.SMALL_BYTES + (long) limits.payloadBytes()),
  DRAFT(limits -> BodySize.SMALL_BYTES + 6L * limits.scriptBytes() + (long) limits.payloadBytes()),
  BATCH(Limits::batchBytes),
  STORE_VALUE(limits -> BodySize.SMALL_BYTES + (long) limits.storeValueBytes()),
  /** A transaction of 16 MiB of values, which executors send as strings of JSON. */
  STORE_OPERATION(limits -> (32 << 20) + BodySize.SMALL_BYTES),
  /** A part of a file. */
  FILE_PART(limits -> 4 << 20),
  /** 16 MiB for the paths, sizes and digests of 20,000 files. */
  BUNDLE(limits -> BodySize.SMALL_BYTES + 839L * limits.bundleFiles()),
  /** The names of modules that an executor has imported. */
  PRELOAD(limits -> 1 << 20),
  /** A batch of log entries and a return value, which is a string of JSON. */
  FRAMES(limits -> (8 << 20) + 3L * limits.returnValueBytes());

  /** Enough for requests without text from users. */
  public static final long SMALL_BYTES = 64 << 10;

  private final ToLongFunction<Limits> bytes;

  BodySize(ToLongFunction<Limits> bytes) {
    this.bytes = bytes;
  }

  public long bytes(Limits limits) {
    return bytes.applyAsLong(limits);
  }
}
