package dev.roost.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.Contract;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Speaks to a Roost over HTTP. */
final class Client {
  private static final int LIMIT_SECONDS = 120;

  private static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(LIMIT_SECONDS))
          .build();

  /** The same for all, since all Roosts of a run are of one build. */
  private static volatile Contract contract;

  private final String url;
  private final String key;

  /**
   * @param key or null: none is sent
   */
  Client(String url, String key) {
    this.url = url;
    this.key = key;
  }

  Client withKey(String other) {
    return new Client(url, other);
  }

  /**
   * @param body JSON text, or null for none
   * @param headers name, value, name, value, …; they win over the usual ones
   * @throws Unreachable when there is no answer
   */
  HttpAnswer send(String method, String path, String body, String... headers) {
    HttpRequest request = request(method, path, body, headers);
    try {
      var response =
          HTTP.sendAsync(request, BodyHandlers.ofString(StandardCharsets.UTF_8))
              .get(LIMIT_SECONDS, TimeUnit.SECONDS);
      checkContract(method, path, response);
      return new HttpAnswer(response.statusCode(), response.headers(), response.body());
    } catch (ExecutionException e) {
      throw new Unreachable(method + " " + path, e);
    } catch (TimeoutException e) {
      throw new AssertionError("no end of the answer to " + method + " " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void checkContract(String method, String path, HttpResponse<String> answer) {
    Contract found = contract;
    if (found == null) {
      contract = found = document().map(Contract::new).orElse(null);
    }
    if (found != null) {
      String contentType = answer.headers().firstValue("Content-Type").orElse(null);
      found.check(method, path, answer.statusCode(), contentType, answer.body());
    }
  }

  /** The OpenAPI document; nothing while Roost can't be reached, which tests may well want. */
  private Optional<String> document() {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(url + "/openapi?format=json")).build();
      HttpResponse<String> answer = HTTP.send(request, BodyHandlers.ofString());
      return answer.statusCode() == 200 ? Optional.of(answer.body()) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The lines of an answer as they come. Close it. */
  Stream<String> lines(String path, String... headers) {
    try {
      return HTTP.send(request("GET", path, null, headers), BodyHandlers.ofLines()).body();
    } catch (IOException e) {
      throw new Unreachable("GET " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private HttpRequest request(String method, String path, String body, String... headers) {
    Map<String, String> all = new LinkedHashMap<>();
    if (key != null) {
      all.put("Authorization", "Bearer " + key);
    }
    if (body != null) {
      all.put("Content-Type", "application/json");
    }
    for (int i = 0; i < headers.length; i += 2) {
      all.put(headers[i], headers[i + 1]);
    }
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .timeout(Duration.ofSeconds(LIMIT_SECONDS))
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    all.forEach(request::header);
    return request.build();
  }

  HttpAnswer get(String path, String... headers) {
    return send("GET", path, null, headers);
  }

  HttpAnswer post(String path, String body, String... headers) {
    return send("POST", path, body, headers);
  }

  /** Whether it answers, with its database. */
  boolean isReachable() {
    try {
      return get("/v1/agents").status() == 200;
    } catch (Unreachable e) {
      return false;
    }
  }

  /** Makes an agent; settings are name, value, name, value, …. */
  JsonNode createAgent(String script, Object... settings) {
    return post("/v1/agents", settings(script, settings)).expect(201).json();
  }

  static String settings(String script, Object... settings) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("store_ids", List.of());
    fields.put("script", script);
    for (int i = 0; i < settings.length; i += 2) {
      fields.put((String) settings[i], settings[i + 1]);
    }
    return HttpAnswer.write(fields);
  }

  /** Makes an agent and answers its identifier. */
  String agent(String script, Object... settings) {
    return createAgent(script, settings).path("id").asText();
  }

  /** Changes an agent; fields are name, value, name, value, …. */
  JsonNode change(String agentId, Object... fields) {
    Map<String, Object> all = new LinkedHashMap<>();
    for (int i = 0; i < fields.length; i += 2) {
      all.put((String) fields[i], fields[i + 1]);
    }
    return send("PATCH", "/v1/agents/" + agentId, HttpAnswer.write(all)).expect(200).json();
  }

  /** Waits until the agent's newest revision is built, and so runs. */
  void runsNewest(String agentId) {
    Eventually.until(
        "the newest revision of " + agentId + " runs",
        () -> {
          JsonNode agent = get("/v1/agents/" + agentId).expect(200).json();
          return agent.path("running_revision").equals(agent.path("revision"));
        });
  }

  /** ExecutorJobs an execution and answers the ExecutorJob's identifier. */
  String submit(String agentId, String payload) {
    return post("/v1/agents/" + agentId + "/execute", body(payload))
        .expect(201)
        .json()
        .path("id")
        .asText();
  }

  /** Executes and answers the ended ExecutorJob. */
  JsonNode execute(String agentId, String payload) {
    HttpAnswer answer =
        post("/v1/agents/" + agentId + "/execute?wait=60", body(payload)).expect(201);
    return ended(answer.json().path("id").asText());
  }

  private static String body(String payload) {
    return payload == null ? "{}" : "{\"payload\": " + payload + "}";
  }

  /** The ExecutorJob when it has ended. */
  JsonNode ended(String jobId) {
    return ended(jobId, Eventually.LIMIT);
  }

  JsonNode ended(String jobId, Duration limit) {
    return Eventually.value(
        "the end of " + jobId,
        limit,
        () -> {
          HttpAnswer answer = get("/v1/executor-jobs/" + jobId + "?wait=20");
          if (answer.status() == 503) {
            return Optional.empty();
          }
          JsonNode job = answer.expect(200).json();
          return job.path("finished_at").isNull() ? Optional.empty() : Optional.of(job);
        });
  }

  JsonNode job(String jobId) {
    return get("/v1/executor-jobs/" + jobId).expect(200).json();
  }

  /** The ExecutorJob once its script has printed something with that text. */
  JsonNode logged(String jobId, String text) {
    return Eventually.value(
        "the log of " + jobId + " has " + text,
        () -> {
          JsonNode job = job(jobId);
          String execution = job.path("execution").path("id").asText("");
          if (execution.isEmpty()) {
            return Optional.empty();
          }
          boolean there = messages(execution).stream().anyMatch(line -> line.contains(text));
          return there ? Optional.of(job) : Optional.empty();
        });
  }

  /** The BuilderJob when it has ended. */
  JsonNode built(String builderJobId) {
    return Eventually.value(
        "the end of " + builderJobId,
        Duration.ofMinutes(4),
        () -> {
          JsonNode job = get("/v1/builder-jobs/" + builderJobId).expect(200).json();
          return job.path("finished_at").isNull() ? Optional.empty() : Optional.of(job);
        });
  }

  /** All entries of an execution's (or, by path, a build's) log. */
  List<JsonNode> entries(String id) {
    String path = (id.startsWith("bjob_") ? "/v1/builder-jobs/" : "/v1/executions/") + id;
    List<JsonNode> entries = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      JsonNode page = get(path + "/logs?limit=1000" + cursor).expect(200).json();
      page.path("data").forEach(entries::add);
      JsonNode next = page.path("next_cursor");
      cursor = next.isNull() ? null : "&cursor=" + next.asText();
    }
    return entries;
  }

  List<String> messages(String id) {
    return entries(id).stream().map(entry -> entry.path("message").asText()).toList();
  }
}
