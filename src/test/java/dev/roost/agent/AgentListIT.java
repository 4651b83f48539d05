package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.HistoryRows;
import dev.roost.api.Role;
import dev.roost.db.Database;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tags of agents, and the order of lists. Nothing runs here. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class AgentListIT {
  @Inject Database database;

  private HistoryRows rows;
  private Api api;

  /** A tag that only this test's agents have. */
  private String mine;

  @BeforeEach
  void prepare() {
    rows = new HistoryRows(database);
    api = Api.as(Role.WRITE);
    mine = "t" + UUID.randomUUID().toString().substring(0, 8);
  }

  private Answer created(String name, String... tags) {
    String list =
        java.util.stream.Stream.of(tags)
            .map(tag -> '"' + tag + '"')
            .collect(Collectors.joining(", ", "[", "]"));
    Answer answer =
        api.post(
            "/v1/agents",
            "{\"script\": \"\", \"store_ids\": [], \"name\": \"%s-%s\", \"tags\": %s}"
                .formatted(name, mine, list));
    assertEquals(201, answer.status(), answer.text());
    return answer;
  }

  private String agent(String name, String... tags) {
    return created(name, tags).get("id");
  }

  private List<String> ids(String query) {
    Answer answer = api.get("/v1/agents?" + query);
    assertEquals(200, answer.status(), answer.text());
    return answer.get("data.id");
  }

  /** All pages of two. */
  private List<String> paged(String path) {
    List<String> all = new ArrayList<>();
    String cursor = null;
    do {
      Answer page = api.get(path + "&limit=2" + (cursor == null ? "" : "&cursor=" + cursor));
      assertEquals(200, page.status(), page.text());
      all.addAll(page.get("data.id"));
      cursor = page.get("next_cursor");
    } while (cursor != null);
    return all;
  }

  @Test
  void tagsAreStoredSortedAndOnceAndAChangeReplacesThem() {
    Answer created = created("a", mine + "/b", mine, mine);
    String id = created.get("id");
    assertEquals(List.of(mine, mine + "/b"), created.get("tags"));
    Answer changed = api.patch("/v1/agents/" + id, "{\"tags\": [\"%s/c\"]}".formatted(mine));
    assertEquals(List.of(mine + "/c"), changed.get("tags"));
    assertEquals((Integer) 1, changed.get("revision"));
    assertNotEquals(created.header("ETag"), changed.header("ETag"));
    assertEquals(List.of(), api.patch("/v1/agents/" + id, "{\"tags\": []}").get("tags"));
  }

  @Test
  void aTagFindsItselfAndTheTagsBelow() {
    String team = agent("a", mine);
    String crawlers = agent("b", mine + "/crawlers", mine + "-eu");
    String news = agent("c", mine + "/crawlers/news");
    agent("d", mine + "-eu", mine + "0");
    assertEquals(List.of(news, crawlers, team), ids("tag=" + mine));
    assertEquals(List.of(news, crawlers), ids("tag=" + mine + "/crawlers"));
    assertEquals(List.of(crawlers), ids("tag=" + mine + "," + mine + "-eu"));
    assertEquals(List.of(), ids("tag=" + mine + "/craw"));
    assertEquals(List.of(team), ids("q=a*%20" + mine + "&tag=" + mine));
    assertEquals(List.of(), ids("q=" + mine + "&untagged=true"));
    String without = agent("e");
    assertEquals(List.of(without), ids("q=" + mine + "&untagged=true"));
  }

  @Test
  void tagsOfDeletedAgentsAreNotListedButFindTheirExecutions() {
    String kept = agent("a", mine);
    String deleted = agent("b", mine, mine + "/x");
    String execution = rows.execution(deleted, "failed", "exception", Instant.now());
    String other = rows.execution(kept, "succeeded", null, Instant.now());
    rows.execution(agent("c"), "succeeded", null, Instant.now());
    api.delete("/v1/agents/" + deleted);
    Answer listed = api.get("/v1/agents/tags");
    List<String> tags = listed.get("data.tag");
    assertTrue(tags.contains(mine));
    assertTrue(!tags.contains(mine + "/x"));
    assertEquals(1, listed.<List<Integer>>get("data.agents").get(tags.indexOf(mine)));
    assertEquals(List.of(other, execution), api.get("/v1/executions?tag=" + mine).get("data.id"));
    assertEquals(
        List.of(execution),
        api.get("/v1/executions?agent=b-" + mine + "&tag=" + mine).get("data.id"));
    assertEquals((Integer) 2, api.get("/v1/executions/count?tag=" + mine).get("count"));
    List<String> jobs = api.get("/v1/executor-jobs?tag=" + mine).get("data.id");
    assertEquals(2, jobs.size());
    assertEquals(List.of(), api.get("/v1/executions?tag=" + mine + "/none").get("data.id"));
  }

  @Test
  void invalidTagsAreRefused() {
    String many =
        IntStream.range(0, 21).mapToObj(i -> "\"t" + i + "\"").collect(Collectors.joining(","));
    for (String tags :
        List.of(
            "[\"Upper\"]",
            "[\"\"]",
            "[\"/a\"]",
            "[\"a//b\"]",
            "[\"a/\"]",
            "[\"a b\"]",
            "[\"a,b\"]",
            "[\"" + "x".repeat(61) + "\"]",
            "[" + many + "]",
            "[1]",
            "\"billing\"")) {
      Answer answer = api.post("/v1/agents", "{\"script\": \"\", \"tags\": " + tags + "}");
      assertEquals(422, answer.status(), tags);
      assertTrue(answer.text().contains("tag"), answer.text());
    }
    assertEquals(422, api.get("/v1/agents?tag=Not%20one").status());
    assertEquals(422, api.get("/v1/executions?tag=a/").status());
    assertEquals(422, api.get("/v1/agents?tag=a,b,c,d,e,f").status());
  }

  @Test
  void agentsAreSortedByEachKeyInPages() {
    String b = agent("Beta", mine);
    String a = agent("alpha", mine);
    String d = agent("delta", mine);
    String c = agent("Charlie", mine);
    Instant now = Instant.now();
    rows.execution(c, "failed", "exception", now.minusSeconds(50));
    rows.execution(a, "failed", "exception", now.minusSeconds(40));
    rows.execution(a, "timed_out", "deadline_exceeded", now.minusSeconds(30));
    rows.execution(b, "succeeded", null, now.minusSeconds(20));
    String filter = "/v1/agents?tag=" + mine + "&sort=";
    assertEquals(List.of(a, b, c, d), paged(filter + "name"));
    assertEquals(List.of(d, c, b, a), paged(filter + "-name"));
    assertEquals(List.of(b, a, d, c), paged(filter + "created"));
    assertEquals(List.of(c, d, a, b), paged(filter + "-created"));
    assertEquals(List.of(b, a, c, d), paged(filter + "-last_execution"));
    assertEquals(List.of(d, c, a, b), paged(filter + "last_execution"));
    List<String> failures = List.of(a, c, d, b); // d is newer than b.
    assertEquals(failures, paged(filter + "-failures"));
    List<String> reversed = new ArrayList<>(failures);
    Collections.reverse(reversed);
    assertEquals(reversed, paged(filter + "failures"));
  }

  @Test
  void aCursorBelongsToItsOrder() {
    agent("a", mine);
    agent("b", mine);
    String filter = "/v1/agents?tag=" + mine + "&limit=1";
    String cursor = api.get(filter + "&sort=name").get("next_cursor");
    assertEquals(422, api.get(filter + "&sort=-name&cursor=" + cursor).status());
    assertEquals(422, api.get(filter + "&cursor=" + cursor).status());
    assertEquals(422, api.get(filter + "&sort=failures&cursor=agents_AAAA").status());
    assertEquals(422, api.get(filter + "&sort=size").status());
    assertEquals(422, api.get(filter + "&sort=name,created").status());
  }

  @Test
  void executionsAreSortedByStartAndDurationInPages() {
    String agent = agent("a", mine);
    List<String> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(rows.execution(agent, "succeeded", null, Instant.now().minusSeconds(60 - i)));
    }
    String filter = "/v1/executions?agent_id=" + agent + "&sort=";
    assertEquals(all, paged(filter + "started"));
    List<String> newest = new ArrayList<>(all);
    Collections.reverse(newest);
    assertEquals(newest, paged(filter + "-started"));
    int[] seconds = {3, 1, 5, 1, 2};
    for (int i = 0; i < 5; i++) {
      rows.run(
          "update execution set finished_at = started_at + interval '%d s' where id = '%s'",
          seconds[i], all.get(i));
    }
    List<String> byDuration = List.of(all.get(1), all.get(3), all.get(4), all.get(0), all.get(2));
    assertEquals(byDuration, paged(filter + "duration"));
    List<String> longest = new ArrayList<>(byDuration);
    Collections.reverse(longest);
    assertEquals(longest, paged(filter + "-duration"));
    assertNull(api.get(filter + "duration").get("next_cursor"));
    assertEquals(422, api.get(filter + "cost").status());
  }
}
