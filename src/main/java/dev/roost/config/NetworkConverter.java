package dev.roost.config;

import org.eclipse.microprofile.config.spi.Converter;

/** Parses networks in settings; registered as a service. */
public final class NetworkConverter implements Converter<Network> {
  @Override
  public Network convert(String value) {
    return value.isBlank() ? null : Network.of(value.strip());
  }
}
