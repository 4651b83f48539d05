package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the type hints of main do, from the script to the refusal of a payload. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
class TypedPayloadIT {
  private static final String SCRIPT =
      """
      import dataclasses, datetime

      @dataclasses.dataclass
      class Order:
          item: str
          placed: datetime.date
          count: int = 1

      @dataclasses.dataclass
      class Bill:
          text: str
          due: datetime.date

      def main(request: "Request[Order]") -> Bill:
          order = request.payload
          return Bill(f"{order.count} x {order.item}", order.placed + datetime.timedelta(days=14))
      """;

  private static final String ORDER = "{\"item\": \"tea\", \"placed\": \"2026-11-29\"}";

  @Test
  void mainGetsAnObjectAndPayloadsAreCheckedFromThenOn(Client client) {
    String agent = client.agent(SCRIPT);
    JsonNode job = client.execute(agent, ORDER);
    assertEquals(
        "{\"text\": \"1 x tea\", \"due\": \"2026-12-13\"}",
        job.path("execution")
            .path("return_value")
            .toString()
            .replace(":", ": ")
            .replace(",", ", "));
    JsonNode view = client.get("/v1/agents/" + agent).json();
    JsonNode input = view.path("hinted_input_schema");
    assertEquals("date", input.path("properties").path("placed").path("format").asText());
    assertEquals("[\"item\",\"placed\"]", input.path("required").toString());
    assertEquals("Bill", view.path("hinted_output_schema").path("title").asText());
    HttpAnswer refused =
        client.send("POST", "/v1/agents/" + agent + "/execute", "{\"payload\": {\"item\": 1}}");
    assertEquals(422, refused.status(), refused.text());
    assertTrue(refused.text().contains("/payload/item"), refused.text());
    assertTrue(refused.text().contains("/payload/placed"), refused.text());
  }
}
