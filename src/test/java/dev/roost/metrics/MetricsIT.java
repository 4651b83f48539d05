package dev.roost.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.ChangedFollowerSettings;
import dev.roost.FollowerDatabase;
import dev.roost.HistoryRows;
import dev.roost.api.Ids;
import dev.roost.api.Role;
import dev.roost.db.Database;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may read metrics, what there is, and what of the database they show. Nothing runs here. */
@QuarkusTest
@TestProfile(ChangedFollowerSettings.class)
@WithTestResource(FollowerDatabase.class)
class MetricsIT {
  private static final Path DOCUMENT = Path.of("docs", "metrics.md");

  /** A line of the document's tables: name, type, labels. */
  private static final Pattern LINE =
      Pattern.compile(
          "(?m)^\\| `(roost_[a-z_]++)` \\| ([a-z]++) \\|([^|]*+)\\| (?:sum|max|each) \\|[^|]++\\|$");

  private static final Pattern PREFIX = Pattern.compile("(?m)^\\| `([a-z]++_)\\*` \\|");

  @Inject Database database;
  @Inject DatabaseNumbers numbers;
  @Inject PrometheusMeterRegistry registry;

  @ConfigProperty(name = "roost.metrics-port")
  int port;

  @ParameterizedTest
  @ValueSource(
      strings = {"/q/metrics", "/metrics", "/q/metrics/", "/q//metrics", "/v1/../q/metrics"})
  void thePublicPortShowsNoneOfThem(String path) {
    assertEquals(404, Api.withKey(null).get(path).status());
  }

  @Test
  void withTheApiAKeyIsNeeded() {
    assertEquals(401, Api.withKey(null).get("/v1/metrics").status());
    Api.Answer answer = Api.as(Role.READ).get("/v1/metrics");
    assertEquals(200, answer.status());
    assertTrue(
        answer.header("Content-Type").startsWith("text/plain"), answer.header("Content-Type"));
    assertEquals(4, new Scrape(answer.text()).value("roost_executors_limit"));
  }

  @Test
  void theirOwnPortServesThemAndNothingElse() throws Exception {
    HttpResponse<String> answer = get("/metrics");
    assertEquals(200, answer.statusCode());
    assertEquals(
        "text/plain; version=0.0.4; charset=utf-8",
        answer.headers().firstValue("Content-Type").orElseThrow());
    assertEquals(0, new Scrape(answer.body()).value("roost_leader"));
    for (String path :
        Set.of("/", "/v1/metrics", "/v1/runtime", "/q/health/ready", "/openapi", "/metrics/x")) {
      assertEquals(404, get(path).statusCode(), path);
    }
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void theDocumentListsWhatThereIs() throws IOException {
    String document = Files.readString(DOCUMENT);
    Map<String, String> listed = new TreeMap<>();
    for (MatchResult line : LINE.matcher(document).results().toList()) {
      listed.put(line.group(1), line.group(2) + " " + names(line.group(3)));
    }
    Set<String> prefixes =
        PREFIX.matcher(document).results().map(m -> m.group(1)).collect(Collectors.toSet());
    assertEquals(Set.of("agroal_", "jvm_", "process_", "system_"), prefixes);

    Api.as(Role.READ).get("/v1/agents"); // So that a request has ended.
    Scrape scrape = new Scrape(registry.scrape());
    Map<String, String> exposed = new TreeMap<>();
    scrape.types.forEach(
        (name, type) -> {
          boolean ofTimes =
              name.endsWith("_max") && scrape.types.containsKey(name.replaceFirst("_max$", ""));
          if (!ofTimes && prefixes.stream().noneMatch(name::startsWith)) {
            exposed.put(name, type + " " + scrape.labels(name));
          }
        });
    assertEquals(listed, exposed);
  }

  private static Set<String> names(String labels) {
    return Pattern.compile("`([a-z_]++)`")
        .matcher(labels)
        .results()
        .map(label -> label.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void whatTheDatabaseHoldsIsCounted() throws Exception {
    HistoryRows rows = new HistoryRows(database);
    Api api = Api.as(Role.WRITE);
    String name = "secret-name-" + Ids.next("x");
    String agent =
        api.post(
                "/v1/agents",
                "{\"script\": \"\", \"max_concurrency\": 1, \"name\": \"" + name + "\"}")
            .get("id");
    String busy = api.post("/v1/agents", "{\"script\": \"\", \"max_concurrency\": 1}").get("id");
    execute(
        "update builder_job set state = 'succeeded', finished_at = now() where agent_id in ('%s', '%s')"
            .formatted(agent, busy));
    Scrape before = scrape();
    rows.execution(busy, "running", null, Instant.now());
    for (String id : new String[] {agent, busy}) {
      assertEquals(201, api.post("/v1/agents/" + id + "/execute", "{}").status());
    }
    execute(
        """
        update executor_job set created_at = now() - interval '100 seconds'
        where state = 'queued' and agent_id = '%s'"""
            .formatted(agent));
    Scrape after = scrape();
    assertEquals(
        1, difference(before, after, "roost_executor_jobs_queued", "waiting_on", "executor"));
    assertEquals(
        1, difference(before, after, "roost_executor_jobs_queued", "waiting_on", "concurrency"));
    assertEquals(1, difference(before, after, "roost_executions_running"));
    double age = after.value("roost_executor_jobs_oldest_age_seconds", "waiting_on", "executor");
    assertTrue(age >= 100 && age < 160, "age " + age);
    execute(
        "update executor_job set not_before = now() + interval '1 hour' where agent_id = '%s'"
            .formatted(agent));
    assertEquals(
        1, difference(before, scrape(), "roost_executor_jobs_queued", "waiting_on", "retry_delay"));
    String text = registry.scrape();
    assertFalse(text.contains(agent) || text.contains(name), "an agent can be told from metrics");
  }

  private static double difference(Scrape before, Scrape after, String name, String... labels) {
    return after.value(name, labels) - before.value(name, labels);
  }

  /** As if five seconds had passed. */
  private Scrape scrape() {
    numbers.forget();
    return new Scrape(registry.scrape());
  }

  @Test
  void theDatabaseIsNotQueriedAgainAtOnce() throws Exception {
    Scrape before = scrape();
    new HistoryRows(database)
        .execution(
            Api.as(Role.WRITE).post("/v1/agents", "{\"script\": \"\"}").get("id"),
            "running",
            null,
            Instant.now());
    Scrape after = new Scrape(registry.scrape());
    assertEquals(0, difference(before, after, "roost_executions_running"));
    assertEquals(1, difference(before, scrape(), "roost_executions_running"));
  }

  @Test
  @Timeout(60)
  void aDatabaseThatDoesNotRespondIsNotReachable() {
    assertEquals(1, scrape().value("roost_database_reachable"));
    database.inTransaction(
        connection -> {
          connection.createStatement().execute("lock table schedule");
          Scrape meanwhile = scrape();
          assertEquals(0, meanwhile.value("roost_database_reachable"));
          assertEquals(Double.NaN, meanwhile.value("roost_executions_running"));
          return null;
        });
    assertEquals(1, scrape().value("roost_database_reachable"));
  }

  @Test
  void whatIsRefusedIsCountedByItsCode() {
    Scrape before = scrape();
    Api.withKey(null).get("/v1/agents");
    Api.as(Role.READ).get("/v1/agents/agent_nowhere");
    Scrape after = scrape();
    for (String code : new String[] {"unauthenticated", "not_found"}) {
      assertEquals(
          1, difference(before, after, "roost_requests_rejected_total", "code", code), code);
    }
  }

  @Test
  void whoeverInventsAMethodAddsNoSeries() throws Exception {
    for (String method : new String[] {"BREW", "X1", "X2"}) {
      HttpClient.newHttpClient()
          .send(
              HttpRequest.newBuilder(
                      URI.create("http://127.0.0.1:" + io.restassured.RestAssured.port + "/"))
                  .method(method, HttpRequest.BodyPublishers.noBody())
                  .build(),
              HttpResponse.BodyHandlers.discarding());
    }
    String text = registry.scrape();
    assertTrue(text.contains("method=\"other\""));
    assertFalse(text.contains("BREW") || text.contains("X1"));
  }

  private void execute(String statement) {
    database.once(connection -> connection.createStatement().execute(statement));
  }
}
