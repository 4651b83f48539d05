package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.state.DeliveryState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class VerdictTest {
  private static final EndpointResponse REFUSED = EndpointResponse.failed("refused");

  @Test
  void onlySuccessIsSuccess() {
    for (int status : new int[] {200, 201, 204, 299}) {
      assertEquals(DeliveryState.SUCCEEDED, verdict(answer(status)).state());
    }
    for (int status : new int[] {199, 300, 302, 307, 400, 404, 429, 500, 503}) {
      assertEquals(DeliveryState.PENDING, verdict(answer(status)).state(), "" + status);
      assertNull(verdict(answer(status)).disabled());
    }
    assertEquals(DeliveryState.PENDING, verdict(EndpointResponse.late(null, "late")).state());
    assertEquals(DeliveryState.PENDING, verdict(EndpointResponse.late(200, "late")).state());
  }

  @Test
  void pausesDoubleFromFiveSecondsToAnHourForADay() {
    for (double random : new double[] {0, 0.5, 1}) {
      List<Double> pauses = pauses(random);
      assertTrue(pauses.get(0) >= 5 && pauses.get(0) <= 6, pauses.toString());
      for (int i = 1; i < pauses.size() - 1; i++) {
        double ratio = pauses.get(i) / pauses.get(i - 1);
        assertTrue(ratio < 2.5 && ratio >= 1, pauses.toString());
        assertTrue(ratio > 1.9 || pauses.get(i) >= 3_000, pauses.toString());
        assertTrue(pauses.get(i) <= 3_600, pauses.toString());
      }
      assertEquals(86_400, pauses.stream().mapToDouble(pause -> pause).sum(), 0.1);
    }
    assertTrue(pauses(1).get(0) > pauses(0).get(0));
  }

  @Test
  void afterADayItIsGivenUpAndTheWebhookDisabled() {
    Verdict verdict = Verdict.of(REFUSED, false, Duration.ZERO, 0.5);
    assertEquals(DeliveryState.FAILED, verdict.state());
    assertNull(verdict.pause());
    assertTrue(verdict.disabled().contains("refused"), verdict.disabled());
  }

  @Test
  void aReceiverThatIsGoneGetsNoMore() {
    Verdict verdict = verdict(answer(410));
    assertEquals(DeliveryState.FAILED, verdict.state());
    assertTrue(verdict.disabled().contains("410"));
  }

  @Test
  void aTestIsTriedOnce() {
    Verdict verdict = Verdict.of(REFUSED, true, Retries.PERIOD, 0.5);
    assertEquals(new Verdict(DeliveryState.FAILED, null, null), verdict);
  }

  @Test
  void whatAReceiverSaysIsShownInPartAndInOneLine() {
    String message =
        EndpointResponse.received(500, ("no\r\n\0way " + "é".repeat(4_000)).getBytes()).message();
    assertTrue(message.startsWith("the receiver responded with 500: no way éé"), message);
    assertTrue(message.length() < 250, message);
    assertTrue(EndpointResponse.received(302, new byte[0]).message().contains("never followed"));
    assertTrue(EndpointResponse.received(500, new byte[] {-1, -2, 'x'}).message().endsWith("x"));
  }

  private static EndpointResponse answer(int status) {
    return EndpointResponse.received(status, new byte[0]);
  }

  private static Verdict verdict(EndpointResponse answer) {
    return Verdict.of(answer, false, Retries.PERIOD, 0.5);
  }

  /** Of a receiver that never answers, in seconds. */
  private static List<Double> pauses(double random) {
    List<Double> pauses = new ArrayList<>();
    Duration untried = Retries.PERIOD;
    while (true) {
      Verdict verdict = Verdict.of(REFUSED, false, untried, random);
      if (verdict.pause() == null) {
        return pauses;
      }
      pauses.add(verdict.pause().toMillis() / 1_000.0);
      untried = untried.minus(verdict.pause());
    }
  }
}
