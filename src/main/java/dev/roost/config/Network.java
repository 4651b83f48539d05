package dev.roost.config;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A block of IP addresses in a setting: {@code 10.0.0.0/8} or {@code fd00::/8}. An address without
 * a prefix length is a block of one address.
 */
public final class Network {
  private static final String OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
  private static final Pattern IPV4 = Pattern.compile("(?:" + OCTET + "\\.){3}" + OCTET);

  /** Possessive, so that text without a match fails at once. */
  private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F.]*+:[0-9a-fA-F:.]*+");

  private final byte[] first;
  private final int length;

  private Network(byte[] first, int length) {
    this.first = first;
    this.length = length;
  }

  /**
   * @throws IllegalArgumentException with the expected format
   */
  public static Network of(String text) {
    int slash = text.indexOf('/');
    String addressText = slash < 0 ? text : text.substring(0, slash);
    byte[] first =
        address(addressText)
            .map(InetAddress::getAddress)
            .orElseThrow(() -> new IllegalArgumentException(noNetwork(text)));
    int bits = first.length * 8;
    int length = slash < 0 ? bits : length(text, slash + 1);
    if (length < 0 || length > bits) {
      throw new IllegalArgumentException(noNetwork(text));
    }
    byte[] masked = mask(first, length);
    if (!Arrays.equals(first, masked)) {
      throw new IllegalArgumentException(
          "\"%s\" has bits behind the first %d; write %s/%d"
              .formatted(text, length, text(masked), length));
    }
    return new Network(first, length);
  }

  /**
   * Parses an IP address: four decimal numbers without leading zeros, or IPv6 without brackets and
   * zone. An IPv4 address mapped into IPv6 becomes IPv4. Never resolves names.
   */
  public static Optional<InetAddress> address(String text) {
    if (!IPV4.matcher(text).matches() && !IPV6.matcher(text).matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(InetAddress.getByName(text));
    } catch (UnknownHostException e) {
      return Optional.empty();
    }
  }

  /** Whether the block contains the address; false for an address of the other IP version. */
  public boolean contains(InetAddress address) {
    byte[] bytes = address.getAddress();
    return bytes.length == first.length && Arrays.equals(mask(bytes, length), first);
  }

  /** Whether the block contains all addresses of the other block. */
  public boolean contains(Network other) {
    return other.length >= length
        && other.first.length == first.length
        && Arrays.equals(mask(other.first, length), first);
  }

  public boolean isIpv6() {
    return first.length == 16;
  }

  /** Whether the block is a single address. */
  public boolean isAddress() {
    return length == first.length * 8;
  }

  /** The block's first address. */
  public String address() {
    return text(first);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Network network
        && network.length == length
        && Arrays.equals(network.first, first);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(first) + length;
  }

  @Override
  public String toString() {
    return text(first) + "/" + length;
  }

  private static int length(String text, int from) {
    String digits = text.substring(from);
    return digits.matches("\\d{1,3}") ? Integer.parseInt(digits) : -1;
  }

  private static byte[] mask(byte[] address, int length) {
    byte[] masked = new byte[address.length];
    for (int i = 0; i < address.length; i++) {
      int bits = Math.max(0, Math.min(8, length - 8 * i));
      masked[i] = (byte) (address[i] & (0xff00 >> bits));
    }
    return masked;
  }

  private static String text(byte[] address) {
    try {
      return InetAddress.getByAddress(address).getHostAddress();
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String noNetwork(String text) {
    return "\"" + text + "\" is not a network such as 10.0.0.0/8 or fd00::/8";
  }
}
