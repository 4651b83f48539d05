package dev.roost.webhook;

import jakarta.enterprise.context.ApplicationScoped;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Names of tests lead to loopback; others lead nowhere, so that no test asks anybody. */
@ApplicationScoped
class TestResolver implements Resolver {
  @Override
  public List<InetAddress> resolve(String host) throws UnknownHostException {
    if (host.endsWith(".test") || host.equals("localhost")) {
      return List.of(InetAddress.getByName("127.0.0.1"));
    }
    throw new UnknownHostException(host);
  }
}
