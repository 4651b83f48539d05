package dev.roost.api;

import dev.roost.config.RoostConfig;
import java.util.Optional;

/** The URL at which people and other programs reach this Roost. */
public final class PublicUrl {
  private PublicUrl() {}

  /** Without a slash at its end; empty: the setting is missing. */
  public static Optional<String> of(RoostConfig config) {
    return config.publicUrl().map(url -> url.replaceAll("/+$", ""));
  }
}
