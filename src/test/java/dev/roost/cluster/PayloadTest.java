package dev.roost.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PayloadTest {
  @Test
  void whatIsPackedIsUnpacked() {
    List<String> messages = List.of("topic a", "topic b", "event x {}");
    List<String> payloads = Payload.pack("me", messages);
    assertEquals(1, payloads.size());
    assertEquals(new Payload("me", messages), Payload.unpack(payloads.get(0)));
  }

  @Test
  void manyMessagesGoIntoSeveralPayloadsThatPostgresqlTakes() {
    List<String> messages = IntStream.range(0, 3_000).mapToObj(i -> "topic é" + i).toList();
    List<String> payloads = Payload.pack("me", messages);
    assertTrue(payloads.size() > 1);
    List<String> unpacked = new ArrayList<>();
    for (String payload : payloads) {
      assertTrue(payload.getBytes(StandardCharsets.UTF_8).length < 8_000);
      unpacked.addAll(Payload.unpack(payload).messages());
    }
    assertEquals(messages, unpacked);
  }

  @Test
  void theLargestMessageThatFitsIsSentUnchanged() {
    String fits = "x".repeat(Payload.MAX_BYTES - "me\n".length());
    assertEquals(List.of("me\n" + fits), Payload.pack("me", List.of(fits)));
    assertEquals(List.of("me\n" + Payload.ANYTHING), Payload.pack("me", List.of(fits + "x")));
  }

  @Test
  void aMessageOfTwoLinesBecomesAnyChange() {
    assertEquals(
        List.of("me\n" + Payload.ANYTHING), Payload.pack("me", List.of("topic a\ntopic b")));
  }

  @Test
  void noMessagesAreNoPayload() {
    assertEquals(List.of(), Payload.pack("me", List.of()));
    assertEquals(new Payload("me", List.of()), Payload.unpack("me"));
  }
}
