package dev.roost.webhook;

import io.quarkus.arc.DefaultBean;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Asks for the addresses of a name. Blocks. */
@FunctionalInterface
public interface Resolver {
  /**
   * @throws UnknownHostException there is none
   */
  List<InetAddress> resolve(String host) throws UnknownHostException;

  /** The one of this machine. */
  class OfMachine {
    @Produces
    @Singleton
    @DefaultBean
    Resolver resolver() {
      return host -> List.of(InetAddress.getAllByName(host));
    }
  }
}
