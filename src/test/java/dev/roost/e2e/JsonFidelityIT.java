package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A payload is kept to the letter, and a script sees what Python's json makes of it. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class JsonFidelityIT {
  private static final long SEED = 20_261_121;
  private static final int TEXTS = 150;

  /** One text a file; writes what json.dumps makes of it, or "infinite", beside it. */
  private static final String REFERENCE =
      """
      import json, sys

      getattr(sys, "set_int_max_str_digits", bool)(0)
      for name in sys.argv[1:]:
          with open(name, encoding="utf-8", newline="") as file:
              value = json.loads(file.read())
          try:
              text = json.dumps(value, allow_nan=False)
          except ValueError:
              text = "infinite"
          with open(name + ".expected", "w", encoding="utf-8", newline="") as file:
              file.write(text)
      """;

  private String agent;

  @BeforeAll
  void makeAgent(Client client) {
    agent = client.agent("def main(request):\n    return request.payload", "timeout", 60);
  }

  @Test
  @LocalOnly("the same processes pass it on in a pod; the other test has larger texts")
  void randomTextsComeBackToTheLetter(Client client, RoostProcess roost) throws Exception {
    Random random = new Random(SEED);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < TEXTS; i++) {
      texts.add(ValidJson.text(random, 1 + random.nextInt(7), i % 3 == 0));
    }
    check(client, roost, texts);
  }

  @Test
  void largeAndDeepTextsComeBackToTheLetter(Client client, RoostProcess roost) throws Exception {
    Random random = new Random(SEED);
    int limit = 4 << 20;
    String string = "\"" + "é\\u0000".repeat(limit / 8 - 1) + "\"";
    check(
        client,
        roost,
        List.of(
            "7".repeat(100_000),
            "[".repeat(500) + "1.10" + "]".repeat(500),
            "{\"\": ".repeat(400) + "-0.0" + "}".repeat(400),
            ValidJson.large(random, 1 << 20),
            string,
            "[" + " ".repeat(limit - 2) + "]"));
  }

  private void check(Client client, RoostProcess roost, List<String> texts) throws Exception {
    List<String> expected = reference(roost, texts);
    assertTrue(
        texts.size() < TEXTS || expected.stream().filter("infinite"::equals).count() > 3,
        "the texts have no infinities");
    List<String> jobs = texts.stream().map(text -> client.submit(agent, text)).toList();
    for (int i = 0; i < jobs.size(); i++) {
      String number = "text " + i;
      JsonNode ended = client.ended(jobs.get(i));
      String answer = client.get("/v1/executor-jobs/" + jobs.get(i)).expect(200).text();
      assertEquals(texts.get(i), ExactJson.member(answer, "payload"), number);
      if (expected.get(i).equals("infinite")) {
        assertEquals("not_json", ended.path("reason").asText(), number);
      } else {
        assertEquals("succeeded", ended.path("state").asText(), number + ended.path("message"));
        assertEquals(
            expected.get(i), ExactJson.member(answer, "execution", "return_value"), number);
      }
    }
  }

  private static List<String> reference(RoostProcess roost, List<String> texts)
      throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory(roost.home(), "json");
    List<String> command = new ArrayList<>(List.of("python3", "-c", REFERENCE));
    for (int i = 0; i < texts.size(); i++) {
      Path file = directory.resolve(Integer.toString(i));
      Files.write(file, texts.get(i).getBytes(StandardCharsets.UTF_8));
      command.add(file.toString());
    }
    assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor());
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < texts.size(); i++) {
      expected.add(Files.readString(directory.resolve(i + ".expected")));
    }
    return expected;
  }
}
