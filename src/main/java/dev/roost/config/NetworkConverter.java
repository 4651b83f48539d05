package dev.roost.config;

import org.eclipse.microprofile.config.spi.Converter;

/** Reads networks in settings; found as a service. */
public final class NetworkConverter implements Converter<Network> {
  @Override
  public Network convert(String value) {
    return value.isBlank() ? null : Network.of(value.strip());
  }
}
