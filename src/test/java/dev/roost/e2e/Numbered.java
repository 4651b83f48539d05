package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** Executions that log numbered lines and return a value, so that what is lost or doubled shows. */
final class Numbered {
  /** Waits at the {@link Gate}, if one is given, between its first line and the others. */
  static final String SCRIPT =
      """
      import socket, time

      def main(request):
          order = request.payload
          for number in range(1, order["lines"] + 1):
              print(f"line {number} of {order['name']}")
              time.sleep(order["pause"])
              if number == 1 and order["gate"]:
                  socket.create_connection(order["gate"]).recv(1)
          return {"name": order["name"], "lines": order["lines"]}
      """;

  /** Logs lines until the {@link Gate} opens that is a payload's, and returns how many. */
  static final String UNTIL_TOLD =
      """
      import select, socket

      def main(request):
          name = request.payload["name"]
          number = 0
          with socket.create_connection(request.payload["gate"]) as gate:
              while number == 0 or not select.select([gate], [], [], 0.5)[0]:
                  number += 1
                  print(f"line {number} of {name}")
          return {"name": name, "lines": number}
      """;

  private Numbered() {}

  /**
   * @param pause seconds after each line
   * @param gate its address, or null
   */
  static String payload(String name, int lines, double pause, String gate) {
    return "{\"name\": \"%s\", \"lines\": %d, \"pause\": %s, \"gate\": %s}"
        .formatted(name, lines, pause, gate);
  }

  /** What is wrong with an ended job of this kind; empty when nothing is. */
  static List<String> mistakes(Client client, JsonNode job) {
    List<String> mistakes = new ArrayList<>();
    JsonNode order = job.path("payload");
    JsonNode execution = job.path("execution");
    int lines =
        order.has("lines")
            ? order.path("lines").asInt()
            : execution.path("return_value").path("lines").asInt();
    if (!job.path("state").asText().equals("succeeded")) {
      mistakes.add(job.path("state").asText() + ": " + job.path("message").asText());
      return mistakes;
    }
    String value = "{\"name\":\"%s\",\"lines\":%d}".formatted(order.path("name").asText(), lines);
    if (!execution.path("return_value").toString().equals(value)) {
      mistakes.add("value: " + execution.path("return_value"));
    }
    List<String> expected = new ArrayList<>();
    for (int number = 1; number <= lines; number++) {
      expected.add(number + " line " + number + " of " + order.path("name").asText());
    }
    List<String> found =
        client.entries(execution.path("id").asText()).stream()
            .map(entry -> entry.path("seq").asInt() + " " + entry.path("message").asText())
            .toList();
    if (!found.equals(expected)) {
      mistakes.add("log of " + execution.path("id").asText() + ": " + found);
    }
    return mistakes;
  }

  static void assertComplete(Client client, JsonNode job) {
    assertEquals(List.of(), mistakes(client, job), job::toPrettyString);
  }
}
