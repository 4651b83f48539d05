package dev.roost.webhook;

import dev.roost.config.Network;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Decides whether requests to an address are allowed: only globally reachable addresses are, so
 * that nobody uses Roost to reach hosts in its own network.
 *
 * <p>Source: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890, RFC 8190) as of
 * 2025-10-09, column "Globally Reachable"; "N/A" counts as no. Also refused are multicast (RFC
 * 5771), 168.63.129.16, a public address with the bootstrap services of Azure's machines, and all
 * IPv6 outside of 2000::/3, the only block with assigned unicast addresses (RFC 4291).
 */
public final class Addresses {
  private static final String SETTING = "roost.webhooks.allowed-networks";

  /** A block of a registry. The longest block that contains an address applies. */
  private record Block(Network network, String name, boolean reachable) {}

  private static final List<Block> IPV4 =
      List.of(
          // Longer blocks are listed first.
          reachable("192.0.0.9/32"),
          reachable("192.0.0.10/32"),
          special("0.0.0.0/8", "\"this network\""),
          special("10.0.0.0/8", "private"),
          special("100.64.0.0/10", "shared between a carrier's customers"),
          special("127.0.0.0/8", "loopback"),
          special("168.63.129.16/32", "a cloud's service for its own machines"),
          special("169.254.0.0/16", "link-local"),
          special("172.16.0.0/12", "private"),
          special("192.0.0.0/24", "for protocols"),
          special("192.0.2.0/24", "for documentation"),
          special("192.88.99.0/24", "for relays of 6to4"),
          special("192.168.0.0/16", "private"),
          special("198.18.0.0/15", "for benchmarks"),
          special("198.51.100.0/24", "for documentation"),
          special("203.0.113.0/24", "for documentation"),
          special("224.0.0.0/4", "multicast"),
          special("255.255.255.255/32", "broadcast"),
          special("240.0.0.0/4", "reserved"));

  private static final List<Block> IPV6 =
      List.of(
          reachable("2001:1::1/128"),
          reachable("2001:1::2/128"),
          reachable("2001:1::3/128"),
          reachable("2001:3::/32"),
          reachable("2001:4:112::/48"),
          reachable("2001:20::/28"),
          reachable("2001:30::/28"),
          special("2001::/32", "Teredo"),
          special("2001:2::/48", "for benchmarks"),
          special("2001:10::/28", "ORCHID"),
          special("2001::/23", "for protocols"),
          special("2001:db8::/32", "for documentation"),
          special("2002::/16", "6to4"),
          special("3fff::/20", "for documentation"),
          reachable("2000::/3"),
          special("::1/128", "loopback"),
          special("::/128", "unspecified"),
          special("64:ff9b:1::/48", "for local translation to IPv4"),
          special("100::/64", "discarded"),
          special("100:0:0:1::/64", "a dummy"),
          special("5f00::/16", "for segment routing"),
          special("fc00::/7", "private"),
          special("fe80::/10", "link-local"),
          special("fec0::/10", "site-local"),
          special("ff00::/8", "multicast"),
          special("::/0", "reserved"));

  /** RFC 6052: the last four bytes are the IPv4 address that is reached. */
  private static final Network NAT64 = Network.of("64:ff9b::/96");

  /** RFC 4291, 2.5.5.2. Java converts these to IPv4, except when created explicitly. */
  private static final byte[] MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

  private final List<Network> allowed;

  /**
   * @param allowed addresses that are allowed despite the registries
   */
  Addresses(List<Network> allowed) {
    this.allowed = List.copyOf(allowed);
  }

  /** The errors in a URL that can be found without a request to it. */
  public Optional<String> mistake(String url) {
    Endpoint target;
    try {
      target = Endpoint.parse(url);
    } catch (Endpoint.Invalid e) {
      return Optional.of(e.getMessage());
    }
    if (target.isLocalhost()) {
      Optional<String> refusal = refusal(Network.address("127.0.0.1").orElseThrow());
      return refusal(Network.address("::1").orElseThrow()).isEmpty()
          ? Optional.empty()
          : refusal.map(why -> "\"" + target.host() + "\" is " + why);
    }
    return target.address().flatMap(this::refusal);
  }

  /**
   * Why requests to an address are refused, for a person: begins with the address and ends with the
   * setting that allows it. Empty: they are allowed.
   */
  Optional<String> refusal(InetAddress address) {
    InetAddress reached = reached(address);
    if (isAllowed(address) || isAllowed(reached)) {
      return Optional.empty();
    }
    return special(reached)
        .map(
            kind ->
                "%s is not a public address (%s); the setting %s can allow it."
                    .formatted(address.getHostAddress(), kind, SETTING));
  }

  private boolean isAllowed(InetAddress address) {
    return allowed.stream().anyMatch(network -> network.contains(address));
  }

  private static Optional<String> special(InetAddress address) {
    for (Block block : address instanceof Inet4Address ? IPV4 : IPV6) {
      if (block.network().contains(address)) {
        return block.reachable() ? Optional.empty() : Optional.of(block.name());
      }
    }
    return Optional.empty();
  }

  /** The destination of an address in which another one is embedded. */
  private static InetAddress reached(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (bytes.length == 16
        && (NAT64.contains(address) || Arrays.equals(bytes, 0, 12, MAPPED, 0, 12))) {
      try {
        return InetAddress.getByAddress(Arrays.copyOfRange(bytes, 12, 16));
      } catch (UnknownHostException e) {
        throw new IllegalStateException(e);
      }
    }
    return address;
  }

  private static Block reachable(String network) {
    return new Block(Network.of(network), "", true);
  }

  private static Block special(String network, String name) {
    return new Block(Network.of(network), name, false);
  }
}
