package dev.roost.runtime;

import dev.roost.config.Network;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What an agent's scripts may connect to, besides the control plane and DNS.
 *
 * @param everything whether egress is unlimited; the list of destinations is then empty
 */
public record Egress(boolean everything, List<Destination> destinations) {
  public static final Egress ALL = new Egress(true, List.of());
  public static final Egress NONE = new Egress(false, List.of());

  private static final int MOST = 100;
  private static final int LONGEST_LINE = 100;

  /**
   * Parses an agent's field.
   *
   * @param text {@code all}, {@code none}, or one destination per line
   * @throws IllegalArgumentException with the error, for a person
   */
  public static Egress parse(String text) {
    List<String> lines =
        text.lines().map(String::strip).filter(line -> !line.isEmpty()).limit(MOST + 1).toList();
    if (lines.equals(List.of("all"))) {
      return ALL;
    }
    if (lines.equals(List.of("none"))) {
      return NONE;
    }
    if (lines.isEmpty()) {
      throw new IllegalArgumentException(
          "egress must be \"all\", \"none\", or one destination per line, such as 192.0.2.7:443.");
    }
    if (lines.size() > MOST) {
      throw new IllegalArgumentException("egress has more than " + MOST + " destinations.");
    }
    return new Egress(
        false, lines.stream().map(line -> Destination.of(line, false)).distinct().toList());
  }

  /** The value of an agent's field. */
  public String text() {
    if (everything) {
      return "all";
    }
    return destinations.isEmpty()
        ? "none"
        : destinations.stream().map(Destination::toString).collect(Collectors.joining("\n"));
  }

  /**
   * A TCP port of an address or of a block of addresses.
   *
   * @param port {@link #ANY_PORT} only where the operator names destinations
   */
  public record Destination(Network network, int port) {
    public static final int ANY_PORT = 0;

    private static final int MAX_PORT = 65_535;

    /**
     * @param text {@code 192.0.2.7:443}, {@code 192.0.2.0/24:443}, {@code [2001:db8::7]:443} or
     *     {@code [2001:db8::/64]:443}
     * @param anyPort whether the port may be {@code *}
     * @throws IllegalArgumentException with the error, for a person
     */
    public static Destination of(String text, boolean anyPort) {
      int colon = text.lastIndexOf(':');
      String host = colon < 0 ? text : text.substring(0, colon);
      String port = colon < 0 ? "" : text.substring(colon + 1);
      boolean bracketed = host.startsWith("[") && host.endsWith("]");
      if (text.length() > LONGEST_LINE || colon <= 0 || bracketed != host.contains(":")) {
        throw new IllegalArgumentException(malformed(text));
      }
      Network network = network(bracketed ? host.substring(1, host.length() - 1) : host, text);
      if (anyPort && port.equals("*")) {
        return new Destination(network, ANY_PORT);
      }
      int number = port.matches("[1-9][0-9]{0,4}") ? Integer.parseInt(port) : 0;
      if (number == 0 || number > MAX_PORT) {
        throw new IllegalArgumentException(
            quote(text) + " has no port from 1 to 65535 after the last colon.");
      }
      return new Destination(network, number);
    }

    /** Whether this destination includes the other one. */
    public boolean covers(Destination other) {
      return network.contains(other.network) && (port == ANY_PORT || port == other.port);
    }

    private static Network network(String text, String all) {
      if (!text.matches("[0-9a-fA-F.:]+(?:/[0-9]+)?")) {
        throw new IllegalArgumentException(
            text.matches("[A-Za-z0-9._-]+")
                ? quote(all)
                    + " is a host name. Only IP addresses can be enforced: write the address, or a CIDR block "
                    + "such as 192.0.2.0/24:443."
                : malformed(all));
      }
      try {
        return Network.of(text);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(e.getMessage() + ".", e);
      }
    }

    private static String malformed(String text) {
      return quote(text)
          + " is not a destination such as 192.0.2.7:443, 192.0.2.0/24:443 or [2001:db8::7]:443.";
    }

    private static String quote(String text) {
      return '"'
          + (text.length() > LONGEST_LINE ? text.substring(0, LONGEST_LINE) + "…" : text)
          + '"';
    }

    @Override
    public String toString() {
      String host = network.isAddress() ? network.address() : network.toString();
      return (network.isIpv6() ? "[" + host + "]" : host)
          + ":"
          + (port == ANY_PORT ? "*" : Integer.toString(port));
    }
  }
}
