package dev.roost.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NamePatternTest {
  @ParameterizedTest
  @CsvSource({
    "orders, orders, true",
    "orders, orders-eu, false",
    "orders*, orders-eu, true",
    "*-eu, orders-eu, true",
    "o*s*eu, orders-us-eu, true",
    "o*x, orders, false",
    "*, '', true",
    "**, anything, true",
    "Orders, orders, false",
    "a.c, abc, false",
  })
  void starsStandForAnyCharacters(String pattern, String name, boolean matches) {
    assertEquals(matches, NamePattern.matches(pattern, name));
  }

  @Test
  void noPatternTakesLong() {
    String name = "a".repeat(200);
    String pattern = "a*".repeat(99) + "b";
    assertTimeoutPreemptively(
        Duration.ofSeconds(5), () -> assertFalse(NamePattern.matches(pattern, name)));
  }
}
