package dev.roost.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.runtime.Egress.Destination;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EgressTest {
  @ParameterizedTest
  @CsvSource({
    "all, all",
    "' none ', none",
    "192.0.2.7:443, 192.0.2.7:443",
    "192.0.2.7/32:443, 192.0.2.7:443",
    "192.0.2.0/24:65535, 192.0.2.0/24:65535",
    "[2001:db8::7]:443, [2001:db8:0:0:0:0:0:7]:443",
    "[2001:db8::/32]:1, [2001:db8:0:0:0:0:0:0/32]:1",
    "0.0.0.0/0:443, 0.0.0.0/0:443",
  })
  void whatIsGivenIsWrittenInOneWay(String given, String written) {
    assertEquals(written, Egress.parse(given).text());
    assertEquals(Egress.parse(given), Egress.parse(written));
  }

  @Test
  void thereIsOneDestinationALine() {
    Egress egress = Egress.parse("\n192.0.2.7:443\r\n 192.0.2.7:443 \n\n192.0.2.8:80\n");
    assertEquals("192.0.2.7:443\n192.0.2.8:80", egress.text());
  }

  @ParameterizedTest
  @CsvSource({
    "'', egress must be",
    "everything, not a destination",
    "'all\\nnone', not a destination",
    "example.org:443, is a host name",
    "EXAMPLE:443, is a host name",
    "192.0.2.7, not a destination",
    "192.0.2.7:, no port",
    "192.0.2.7:0, no port",
    "192.0.2.7:65536, no port",
    "192.0.2.7:*, no port",
    "192.0.2.7:-1, no port",
    "192.0.2.7:４４, no port",
    "192.0.2.7/33:443, 192.0.2.7/33",
    "192.0.2.7/24:443, 192.0.2.0/24",
    "2001:db8::7:443, not a destination",
    "[192.0.2.7]:443, not a destination",
    "[2001:db8::7:443, not a destination",
    "[2001:db8::7%eth0]:443, not a destination",
    "[::ffff:192.0.2.0/120]:443, 192.0.2.0/120",
    "http://192.0.2.7:443, not a destination",
    "192.0.2.7:443 192.0.2.8:443, not a destination",
  })
  void whatIsWrongIsNamed(String given, String named) {
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class, () -> Egress.parse(given.replace("\\n", "\n")), given);
    assertTrue(refused.getMessage().contains(named), refused.getMessage());
  }

  @Test
  void thereIsABoundOfDestinationsAndOfTheirLength() {
    String many =
        IntStream.rangeClosed(1, 101)
            .mapToObj(port -> "192.0.2.7:" + port)
            .collect(Collectors.joining("\n"));
    assertThrows(IllegalArgumentException.class, () -> Egress.parse(many));
    String longest = "9".repeat(1_000_000);
    assertTrue(
        assertThrows(IllegalArgumentException.class, () -> Egress.parse(longest))
                .getMessage()
                .length()
            < 300);
  }

  @Test
  void onlyAnOperatorNamesEveryPort() {
    Destination any = Destination.of("10.0.0.0/8:*", true);
    assertTrue(any.covers(Destination.of("10.1.0.0/16:22", false)));
    assertEquals("10.0.0.0/8:*", any.toString());
  }
}
