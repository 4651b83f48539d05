package dev.roost.webhook;

import io.quarkus.arc.DefaultBean;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Resolves a name to addresses. Blocks. */
@FunctionalInterface
public interface Resolver {
  /**
   * @throws UnknownHostException there is no address
   */
  List<InetAddress> resolve(String host) throws UnknownHostException;

  /** This machine's resolver. */
  class OfMachine {
    @Produces
    @Singleton
    @DefaultBean
    Resolver resolver() {
      return host -> List.of(InetAddress.getAllByName(host));
    }
  }
}
