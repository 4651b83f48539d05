package dev.roost.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quarkus.runtime.configuration.ConfigUtils;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NetworkTest {
  @ParameterizedTest
  @CsvSource({
    "10.0.0.0/8, 10.255.255.255, true",
    "10.0.0.0/8, 11.0.0.0, false",
    "10.0.0.0/8, 9.255.255.255, false",
    "172.16.0.0/12, 172.31.0.1, true",
    "172.16.0.0/12, 172.32.0.0, false",
    "192.0.2.7, 192.0.2.7, true",
    "192.0.2.7/32, 192.0.2.6, false",
    "0.0.0.0/0, 255.255.255.255, true",
    "0.0.0.0/0, ::1, false",
    "fd00::/8, fdff::1, true",
    "fd00::/8, fe00::, false",
    "2001:20::/28, 2001:2f::1, true",
    "2001:20::/28, 2001:30::, false",
    "::/0, 10.0.0.1, false",
    "::1, ::1, true",
    "10.0.0.0/8, ::ffff:10.1.2.3, true",
  })
  void aNetworkHoldsWhatBeginsLikeIt(String network, String address, boolean contains)
      throws UnknownHostException {
    assertEquals(contains, Network.of(network).contains(InetAddress.getByName(address)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/8",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/08x",
        "10.0.0/8",
        "10/8",
        "010.0.0.0/8",
        "localhost",
        "example.org/8",
        "fd00::/129",
        "fd00:::/8",
        "[fd00::]/8",
        "fe80::1%eth0",
        "10.0.0.0/8/8",
        "*"
      })
  void whatIsNoNetworkIsRefused(String text) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> Network.of(text)).getMessage();
    assertTrue(message.contains("such as 10.0.0.0/8"), message);
  }

  @Test
  void bitsBehindTheLengthAreRefusedWithWhatWasMeant() {
    String message =
        assertThrows(IllegalArgumentException.class, () -> Network.of("10.1.2.3/8")).getMessage();
    assertEquals("\"10.1.2.3/8\" has bits behind the first 8; write 10.0.0.0/8", message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"127.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "1.2.3.256", "a"})
  void onlyTheUsualTextIsAnAddress(String text) {
    assertTrue(Network.address(text).isEmpty());
  }

  @Test
  void theSettingNamesItsPropertyWhenItIsWrong() {
    assertEquals(
        List.of("10.0.0.0/8", "fd00:0:0:0:0:0:0:0/8"),
        config("10.0.0.0/8, fd00::/8").webhooks().allowedNetworks().orElseThrow().stream()
            .map(Network::toString)
            .toList());
    String message =
        assertThrows(RuntimeException.class, () -> config("10.0.0.0/8,nonsense")).getMessage();
    assertTrue(message.contains("roost.webhooks.allowed-networks"), message);
    assertTrue(message.contains("\"nonsense\" is not a network"), message);
  }

  private static RoostConfig config(String networks) {
    return ConfigUtils.configBuilder()
        .withMapping(RoostConfig.class)
        .withDefaultValues(Map.of("roost.webhooks.allowed-networks", networks))
        .build()
        .getConfigMapping(RoostConfig.class);
  }
}
