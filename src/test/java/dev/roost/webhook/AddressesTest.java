package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.config.Network;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressesTest {
  private final Addresses byDefault = new Addresses(List.of());

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.0.9",
        "192.0.0.10",
        "192.0.1.0",
        "192.0.3.0",
        "192.31.196.1",
        "192.52.193.1",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "192.175.48.1",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2001:4860:4860::8888",
        "2001:200::1",
        "2001:1::1",
        "2001:1::2",
        "2001:1::3",
        "2001:3::1",
        "2001:4:112::1",
        "2001:20::1",
        "2001:3f::1",
        "2003::1",
        "2620:4f:8000::1",
        "3ffe::1",
        "64:ff9b::8.8.8.8",
        "::ffff:8.8.8.8"
      })
  void whatIsReachableFromEverywhereIsAllowed(String address) throws UnknownHostException {
    assertTrue(byDefault.refusal(InetAddress.getByName(address)).isEmpty());
  }

  @ParameterizedTest
  @CsvSource({
    "0.0.0.0, this network",
    "0.1.2.3, this network",
    "10.0.0.0, private",
    "10.255.255.255, private",
    "100.64.0.0, carrier",
    "100.127.255.255, carrier",
    "127.0.0.1, loopback",
    "127.255.255.254, loopback",
    "168.63.129.16, cloud",
    "169.254.169.254, link-local",
    "169.254.0.0, link-local",
    "172.16.0.0, private",
    "172.31.255.255, private",
    "192.0.0.0, protocols",
    "192.0.0.8, protocols",
    "192.0.0.11, protocols",
    "192.0.0.170, protocols",
    "192.0.0.171, protocols",
    "192.0.2.1, documentation",
    "192.88.99.1, 6to4",
    "192.88.99.2, 6to4",
    "192.168.0.0, private",
    "192.168.255.255, private",
    "198.18.0.0, benchmarks",
    "198.19.255.255, benchmarks",
    "198.51.100.1, documentation",
    "203.0.113.1, documentation",
    "224.0.0.1, multicast",
    "239.255.255.255, multicast",
    "240.0.0.1, reserved",
    "255.255.255.254, reserved",
    "255.255.255.255, broadcast",
    "::, unspecified",
    "::1, loopback",
    "::2, reserved",
    "::127.0.0.1, reserved",
    "::8.8.8.8, reserved",
    "64:ff9b:1::8.8.8.8, translation",
    "64:ff9b:0:1::1, reserved",
    "100::1, discarded",
    "100:0:0:1::1, dummy",
    "1fff::1, reserved",
    "2001::1, Teredo",
    "2001:0:ffff::1, Teredo",
    "2001:1::4, protocols",
    "2001:1::, protocols",
    "2001:2::1, benchmarks",
    "2001:4:111::1, protocols",
    "2001:5::1, protocols",
    "2001:10::1, ORCHID",
    "2001:1f::1, ORCHID",
    "2001:40::1, protocols",
    "2001:1ff:ffff::1, protocols",
    "2001:db8::1, documentation",
    "2002:7f00:1::1, 6to4",
    "2002:808:808::1, 6to4",
    "3fff::1, documentation",
    "3fff:fff::1, documentation",
    "4000::1, reserved",
    "5f00::1, segment",
    "fc00::1, private",
    "fd12:3456::1, private",
    "fe00::1, reserved",
    "fe80::1, link-local",
    "febf::1, link-local",
    "fec0::1, site-local",
    "ff02::1, multicast",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, multicast",
    "::ffff:127.0.0.1, loopback",
    "::ffff:a00:1, private",
    "::ffff:169.254.169.254, link-local",
    "64:ff9b::127.0.0.1, loopback",
    "64:ff9b::10.0.0.1, private",
    "64:ff9b::a9fe:a9fe, link-local",
    "64:ff9b::a83f:8110, cloud",
    "64:ff9b::, this network",
  })
  void whatIsNotIsRefusedWithTheReasonAndTheSetting(String address, String kind)
      throws UnknownHostException {
    String refusal = byDefault.refusal(InetAddress.getByName(address)).orElseThrow();
    assertTrue(refusal.contains(kind), refusal);
    assertTrue(refusal.contains("roost.webhooks.allowed-networks"), refusal);
  }

  @Test
  void anAddressThatJavaKeepsMappedIsJudgedAsWhatItLeadsTo() throws UnknownHostException {
    byte[] mapped = new byte[16];
    mapped[10] = -1;
    mapped[11] = -1;
    mapped[12] = 127;
    mapped[15] = 1;
    InetAddress address = Inet6Address.getByAddress(null, mapped, -1);
    assertEquals(16, address.getAddress().length);
    assertFalse(byDefault.refusal(address).isEmpty());
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, true",
    "::ffff:127.0.0.1, true",
    "64:ff9b::127.0.0.1, true",
    "127.1.0.0, false",
    "10.0.0.1, false",
    "fd00::1, true",
    "fd01::1, false",
    "::1, false",
    "8.8.8.8, true",
  })
  void whatTheSettingNamesIsAllowedToo(String address, boolean allowed)
      throws UnknownHostException {
    Addresses addresses =
        new Addresses(List.of(Network.of("127.0.0.0/16"), Network.of("fd00::/16")));
    assertEquals(allowed, addresses.refusal(InetAddress.getByName(address)).isEmpty());
  }
}
