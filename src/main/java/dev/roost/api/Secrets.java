package dev.roost.api;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Random secrets. Roost stores secrets only as {@link Text#sha256}. */
public final class Secrets {
  private static final SecureRandom RANDOM = new SecureRandom();

  private Secrets() {}

  /** 256 random bits, so that a hash needs no salt: 64 hexadecimal digits. */
  public static String next() {
    byte[] secret = new byte[32];
    RANDOM.nextBytes(secret);
    return HexFormat.of().formatHex(secret);
  }
}
