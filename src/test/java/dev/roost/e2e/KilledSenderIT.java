package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Webhooks across the death of the process that sends. */
@EveryRuntime
class KilledSenderIT {
  private static final int STORES = 5;

  /** Longer than it may take until the process is killed: none of the attempts ends by itself. */
  private static final int TIMEOUT_SECONDS = 60;

  /** For which a delivery belongs to the process that sends it. */
  private static final int LEASE_SECONDS = TIMEOUT_SECONDS + 20;

  private final Map<String, List<String>> byIdentifier = new ConcurrentHashMap<>();
  private final List<String> order = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch hanging = new CountDownLatch(1);
  private volatile boolean hang = true;
  private HttpServer receiver;

  @BeforeEach
  void listen() throws IOException {
    receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    receiver.setExecutor(Executors.newCachedThreadPool());
    receiver.createContext(
        "/",
        exchange -> {
          String body = new String(exchange.getRequestBody().readAllBytes());
          String id = exchange.getRequestHeaders().getFirst("webhook-id");
          byIdentifier
              .computeIfAbsent(id, key -> Collections.synchronizedList(new ArrayList<>()))
              .add(body);
          if (hang) {
            try {
              hanging.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            exchange.close();
            return;
          }
          order.add(body);
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    receiver.start();
  }

  @AfterEach
  void close() {
    hanging.countDown();
    receiver.stop(0);
  }

  @Test
  @LocalOnly("executors have no part in it")
  void whatWasBeingSentWhenTheProcessWasKilledIsSentAgainInOrder() throws SQLException {
    try (RoostProcess roost =
        RoostProcess.started(
            "ROOST_WEBHOOKS_ALLOWED_NETWORKS",
            "127.0.0.0/8",
            "ROOST_WEBHOOKS_TIMEOUT",
            TIMEOUT_SECONDS + "s")) {
      Client client = roost.client();
      JsonNode webhook =
          client
              .post(
                  "/v1/webhooks",
                  "{\"url\": \"http://127.0.0.1:%d/\", \"event_types\": [\"datastore.*\"]}"
                      .formatted(receiver.getAddress().getPort()))
              .json();
      String path = "/v1/webhooks/" + webhook.path("id").asText();
      List<String> stores = new ArrayList<>();
      for (int i = 0; i < STORES; i++) {
        stores.add(client.post("/v1/datastore", "{}").json().path("id").asText());
      }
      stores.forEach(store -> client.send("DELETE", "/v1/datastore/" + store, null));
      Eventually.until("the first of each are being sent", () -> byIdentifier.size() == STORES);
      roost.kill9();
      hang = false;
      hanging.countDown();
      assertEquals(STORES, passLeases(roost));
      roost.start();
      Client again = roost.client();
      Eventually.until(
          "everything is delivered",
          () -> {
            JsonNode deliveries = again.get(path + "/deliveries").json().path("data");
            return deliveries.size() == 2 * STORES
                && IntStream.range(0, deliveries.size())
                    .allMatch(i -> deliveries.get(i).path("state").asText().equals("succeeded"));
          });
      assertEquals(2 * STORES, byIdentifier.size());
      assertEquals(STORES, byIdentifier.values().stream().filter(all -> all.size() == 2).count());
      byIdentifier
          .values()
          .forEach(all -> assertEquals(1, all.stream().distinct().count(), "the same body"));
      for (String store : stores) {
        List<String> types =
            order.stream()
                .filter(body -> body.contains("\"subject\":\"" + store + "\""))
                .map(body -> body.replaceAll(".*\"type\":\"dev.roost.([^\"]+)\".*", "$1"))
                .toList();
        assertTrue(
            types.indexOf("datastore.created") < types.indexOf("datastore.deleted"),
            types::toString);
        assertEquals("datastore.deleted", types.get(types.size() - 1));
      }
    }
  }

  /** As if the time had passed for which what was being sent belonged to the killed process. */
  private static int passLeases(RoostProcess roost) throws SQLException {
    return StoreDatabase.query(
            roost,
            "update webhook_delivery set next_attempt_at = next_attempt_at - interval '%d seconds'"
                    .formatted(LEASE_SECONDS)
                + " where attempts > 0 returning id")
        .size();
  }
}
