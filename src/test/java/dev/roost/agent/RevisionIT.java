package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an agent ran before, the way back to it, and changes that don't overwrite each other. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class RevisionIT {
  private static final Set<String> RUN =
      Set.of("script", "requirements", "env_vars", "python_version");

  private Api api;
  private String path;

  @BeforeEach
  void makeAgent() {
    api = Api.as(Role.WRITE);
    Answer made =
        api.post("/v1/agents", "{\"script\": \"one\", \"env_vars\": \"A=1\", \"memory\": 64}");
    path = "/v1/agents/" + made.get("id");
  }

  private Answer change(String json, String... headers) {
    return api.patch(path, json, headers);
  }

  private Answer rollBack(int revision, String... headers) {
    return api.post(path + "/roll-back", "{\"revision\": " + revision + "}", headers);
  }

  private static Map<String, Object> run(Answer answer) {
    Map<String, Object> all = answer.get("");
    all.keySet().retainAll(RUN);
    return all;
  }

  @Test
  void everyChangeOfWhatRunsIsKept() {
    change("{\"script\": \"two\", \"requirements\": \"humanize==4.13.0\"}");
    change("{\"memory\": 128}");
    change("{\"env_vars\": \"A=2\", \"python_version\": \"3.11\"}");

    Answer all = api.get(path + "/revisions");
    assertEquals(List.of(3, 2, 1), all.get("data.revision"));
    assertEquals(List.of("two", "two", "one"), all.get("data.script"));
    assertEquals(List.of("A=2", "A=1", "A=1"), all.get("data.env_vars"));
    assertEquals(List.of("3.11", "3.13", "3.13"), all.get("data.python_version"));
    assertNull(all.get("next_cursor"));

    Answer page = api.get(path + "/revisions?limit=2");
    assertEquals(List.of(3, 2), page.get("data.revision"));
    Answer next = api.get(path + "/revisions?limit=2&cursor=" + page.get("next_cursor"));
    assertEquals(List.of(1), next.get("data.revision"));

    Answer one = api.get(path + "/revisions/2");
    assertEquals((Object) all.get("data[1]"), one.get(""));
    assertEquals("humanize==4.13.0", one.get("requirements"));
    assertTrue(one.<String>get("builder_job_id").startsWith("bjob_"));
    assertTrue(one.text().contains("\"build_id\":null"), one.text());
    assertEquals(path, "/v1/agents/" + one.get("agent_id"));
  }

  @Test
  void preloadIsPartOfARevision() {
    assertEquals("auto", api.get(path).get("preload"));
    assertEquals(1, (int) change("{\"preload\": \"auto\"}").get("revision"));
    Answer changed = change("{\"preload\": \"off\"}");
    assertEquals(200, changed.status(), changed.text());
    assertEquals(2, (int) changed.get("revision"));
    assertEquals("off", changed.get("preload"));
    assertEquals(3, (int) change("{\"script\": \"two\"}").get("revision"));
    assertEquals("off", api.get(path).get("preload"), "it is kept");
    assertEquals(List.of("off", "off", "auto"), api.get(path + "/revisions").get("data.preload"));
    assertEquals("off", api.get(path + "/revisions/2").get("preload"));
    assertEquals("auto", rollBack(1).get("preload"));

    Answer refused = change("{\"preload\": \"on\"}");
    assertEquals(422, refused.status());
    assertEquals("/preload", refused.get("errors[0].pointer"));
    assertEquals("preload must be one of auto, off.", refused.get("detail"));
    String other = "{\"script\": \"one\", \"preload\": \"off\"}";
    assertEquals("off", api.post("/v1/agents", other).get("preload"));
  }

  @Test
  void whoMayNotWriteSeesNoValues() {
    Api reader = Api.as(Role.READ);
    assertEquals(List.of("A=********"), reader.get(path + "/revisions").get("data.env_vars"));
    assertEquals("A=********", reader.get(path + "/revisions/1").get("env_vars"));
    assertEquals(403, reader.post(path + "/roll-back", "{\"revision\": 1}").status());
    assertEquals(403, Api.as(Role.EXECUTE).post(path + "/roll-back", "{\"revision\": 1}").status());
  }

  @Test
  void whatIsNotThereIsNotFound() {
    assertEquals(404, api.get(path + "/revisions/2").status());
    assertEquals(404, rollBack(2).status());
    assertEquals(404, api.get("/v1/agents/agent_none/revisions").status());
    assertEquals(404, api.get("/v1/agents/agent_none/revisions/1").status());
    assertEquals(404, api.post("/v1/agents/agent_none/roll-back", "{\"revision\": 1}").status());
    assertEquals(422, api.post(path + "/roll-back", "{}").status());
    assertEquals(422, rollBack(0).status());
    assertEquals(422, api.get(path + "/revisions?cursor=x").status());
    api.delete(path);
    assertEquals(404, api.get(path + "/revisions").status());
    assertEquals(404, rollBack(1).status());
  }

  @Test
  void rollingBackMakesWhatRanBeforeTheNewestRevision() {
    Map<String, Object> first = run(api.get(path));
    change(
        "{\"script\": \"two\", \"requirements\": \"humanize==4.13.0\", \"env_vars\": \"B=2\","
            + " \"python_version\": \"3.11\", \"memory\": 128}");
    Map<String, Object> second = run(api.get(path));

    Answer back = rollBack(1);
    assertEquals(200, back.status(), back.text());
    assertEquals(3, (int) back.get("revision"));
    assertEquals(first, run(back));
    assertEquals(128, (int) back.get("memory"), "only what runs goes back");
    assertEquals((Object) back.get(""), api.get(path).get(""));

    assertEquals(second, run(rollBack(2)));
    assertEquals(List.of(4, 3, 2, 1), api.get(path + "/revisions").get("data.revision"));
    assertEquals(4, (int) rollBack(4).get("revision"), "nothing changes");
    assertEquals(4, (int) rollBack(2).get("revision"), "nothing changes");
  }

  @Test
  void aChangeOfWhatWasReadIsMadeOnce() {
    Answer read = api.get(path);
    String tag = read.header("ETag");
    String time = read.get("updated_at");
    long micros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(time));
    assertEquals("\"1-" + micros + "\"", tag);

    Answer changed = change("{\"memory\": 65}", "If-Match", tag);
    assertEquals(200, changed.status(), changed.text());
    assertNotEquals(tag, changed.header("ETag"));
    assertEquals(changed.header("ETag"), api.get(path).header("ETag"));

    Answer late = change("{\"memory\": 66}", "If-Match", tag);
    assertEquals(412, late.status());
    assertEquals("precondition_failed", late.get("code"));
    assertEquals(65, (int) api.get(path).get("memory"));
    assertEquals(412, rollBack(1, "If-Match", tag).status());

    String now = changed.header("ETag");
    assertEquals(200, change("{\"memory\": 67}", "If-Match", "\"other\", W/" + now).status());
    assertEquals(200, change("{\"memory\": 68}", "If-Match", "*").status());
    assertEquals(422, change("{\"memory\": 69}", "If-Match", "unquoted").status());
    assertEquals(
        200, rollBack(1, "If-Match", change("{\"script\": \"x\"}").header("ETag")).status());
    Answer made = api.post("/v1/agents", "{\"script\": \"x\"}");
    assertEquals(made.header("ETag"), api.get("/v1/agents/" + made.get("id")).header("ETag"));
  }

  @Test
  void ofManyWhoChangeTheSameOneSucceeds() {
    for (int round = 0; round < 5; round++) {
      String tag = api.get(path).header("ETag");
      List<CompletableFuture<Answer>> sent =
          IntStream.range(0, 8)
              .mapToObj(
                  i ->
                      CompletableFuture.supplyAsync(
                          () -> change("{\"memory\": " + (100 + i) + "}", "If-Match", tag)))
              .toList();
      List<Integer> statuses =
          sent.stream().map(answer -> answer.join().status()).sorted().toList();
      assertEquals(List.of(200, 412, 412, 412, 412, 412, 412, 412), statuses);
    }
  }
}
