package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A script of many steps, whose effects somebody outside counts. */
final class StepEffects {
  /** Tells each effect to a {@link Tally}, with a name that it has invented and then returns. */
  static final String SCRIPT =
      Tally.TELL
          + """

          import random, time

          def act(address):
              name = f"{random.getrandbits(64):x}"
              tell(address, name)
              time.sleep(0.05)
              return name

          def group(request, number, address):
              return [request.step(f"act {i}", act, address) for i in range(3)]

          def main(request):
              address = request.payload
              return [request.step("group", group, request, n, address) for n in range(10)]
          """;

  static final int EFFECTS = 30;

  private StepEffects() {}

  /** All steps of a job. */
  static List<JsonNode> steps(Client client, String job) {
    List<JsonNode> found = new ArrayList<>();
    String query = "?limit=7";
    while (query != null) {
      JsonNode page = client.get("/v1/executor-jobs/" + job + "/steps" + query).expect(200).json();
      page.path("data").forEach(found::add);
      JsonNode cursor = page.path("next_cursor");
      query = cursor.isNull() ? null : "?limit=7&cursor=" + cursor.asText();
    }
    return found;
  }

  /**
   * Waits for the job's end: each stored result has had its effect once.
   *
   * @param effects how often each name was told
   * @return the attempts
   */
  static int settle(Client client, String job, Map<String, Long> effects, String about) {
    JsonNode ended = client.ended(job);
    assertEquals("succeeded", ended.path("state").asText(), () -> about + " " + ended);
    List<String> returned = new ArrayList<>();
    for (JsonNode group : ended.path("execution").path("return_value")) {
      group.forEach(name -> returned.add(name.asText()));
    }
    assertEquals(EFFECTS, returned.size(), about);
    List<String> stored = new ArrayList<>();
    for (JsonNode step : steps(client, job)) {
      assertEquals("succeeded", step.path("state").asText(), step::toString);
      if (step.path("result").isTextual()) {
        stored.add(step.path("result").asText());
      }
    }
    assertEquals(returned, stored, "what is returned is what was stored, once and in order");
    for (String name : returned) {
      assertEquals(1, effects.get(name), () -> about + " " + job + " " + name);
    }
    return ended.path("attempts").asInt();
  }

  /** An attempt that ends loses at most the step that it was at. */
  static void assertLost(int jobs, int attempts, Map<String, Long> effects) {
    assertTrue(
        effects.size() - jobs * EFFECTS <= attempts - jobs,
        "%d jobs, %d attempts, %d effects".formatted(jobs, attempts, effects.size()));
  }
}
