package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class AgentTest {
  @Test
  void aChangeHasATagOfItsOwnAlsoInTheSameMicrosecond() {
    Agent agent = new Agent();
    agent.revision = 2;
    agent.updatedAt = Instant.parse("1970-01-01T00:00:01Z");
    assertEquals("2-1000000", agent.tag());
    agent.touch(Instant.parse("1970-01-01T00:00:01Z"));
    assertEquals("2-1000001", agent.tag());
    agent.touch(Instant.EPOCH);
    assertEquals("2-1000002", agent.tag(), "a clock that goes back");
    agent.touch(Instant.parse("1970-01-01T00:00:02Z"));
    assertEquals("2-2000000", agent.tag());
  }
}
