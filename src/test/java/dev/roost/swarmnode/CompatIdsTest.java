package dev.roost.swarmnode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class CompatIdsTest {
  @Test
  void identifiersAndUuidsAreTheSameBits() {
    for (int i = 0; i < 1_000; i++) {
      String id = Ids.next("agent");
      String uuid = CompatIds.AGENT.uuid(id);
      assertEquals(7, UUID.fromString(uuid).version());
      assertEquals(id, CompatIds.AGENT.id(uuid));
      assertEquals(id, CompatIds.AGENT.id(uuid.toUpperCase(java.util.Locale.ROOT)));
      UUID any = UUID.randomUUID();
      assertEquals(Optional.of(any), Ids.uuid("agent", Ids.of("agent", any)));
      assertEquals(
          Optional.of("agent_" + id.substring(6)),
          CompatIds.AGENT.ofAddress(CompatIds.AGENT.address(id)));
    }
    UUID greatest = new UUID(-1, -1);
    assertEquals("agent_7" + "z".repeat(25), Ids.of("agent", greatest));
    assertEquals(Optional.of(greatest), Ids.uuid("agent", "agent_7" + "z".repeat(25)));
  }

  @Test
  void whatIsMalformedIsNotFound() {
    for (String uuid :
        List.of("", "nonsense", "1-1-1-1-1", "agent_01jd4m8z6hf0r9w2x3c5v7b8na", "0".repeat(36))) {
      Problem problem = assertThrows(Problem.class, () -> CompatIds.AGENT.id(uuid), uuid);
      assertEquals(ErrorCode.NOT_FOUND, problem.code());
    }
    for (String address : List.of("", "x", "8" + "0".repeat(25), "u".repeat(26), "A".repeat(26))) {
      assertEquals(Optional.empty(), CompatIds.JOB.ofAddress(address), address);
    }
    assertEquals(Optional.empty(), Ids.uuid("agent", "store_01jd4m8z6hf0r9w2x3c5v7b8na"));
  }

  @Test
  void eachErrorHasAStatusThatClientsKnow() {
    for (ErrorCode code : ErrorCode.values()) {
      assertEquals(true, List.of(400, 401, 404).contains(CompatErrors.status(code)), code.code());
    }
  }
}
