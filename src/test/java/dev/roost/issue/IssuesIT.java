package dev.roost.issue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.db.ThrottledBatches;
import dev.roost.event.EventLog;
import dev.roost.issue.FailedRows.Failed;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Failures become issues, each once. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class IssuesIT {
  @Inject Database database;
  @Inject EventLog events;
  @Inject IssueGrouping grouping;

  private Api api;
  private FailedRows rows;
  private long before;

  @BeforeEach
  void begin() {
    api = Api.as(Role.WRITE);
    rows = new FailedRows(database, api);
    // Failures from before that time are the past, and have no events.
    rows.rows().run("update issue_progress set begun_at = now() - interval '1 day'");
    before = events.latest();
  }

  private Answer issue(String id) {
    return api.get("/v1/issues/" + id);
  }

  private List<String> eventsOf(String issue) {
    return api.get("/v1/events?after=" + before + "&subject=" + issue).get("data.type");
  }

  private void awaitCount(String issue, int count) {
    Await.until(
        count + " failures, not " + issue(issue).get("count"),
        () -> issue(issue).<Integer>get("count") >= count);
    assertEquals(count, (int) issue(issue).get("count"));
  }

  @Test
  void failuresOfDraftsAreNoIssue() {
    Failed draft = rows.failDraft("no such draft");
    Failed saved = rows.fail("no such customer");
    rows.issueOf(saved);
    assertEquals(List.of(), api.get("/v1/issues?execution_id=" + draft.execution()).get("data.id"));
  }

  @Test
  void failuresOfOneCauseAreOneIssue() {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    Failed first = rows.fail("order 1 has no price", 1, now.minus(Duration.ofHours(2)));
    Failed other = rows.fail("no such customer", 1, now);
    Failed latest = rows.fail("order 22 has no price", 3, now);

    String id = rows.issueOf(latest);
    assertEquals(id, rows.issueOf(first));
    assertNotEquals(id, rows.issueOf(other));
    Answer issue = issue(id);
    assertEquals(rows.agent, issue.get("agent_id"));
    assertEquals("open", issue.get("state"));
    assertEquals("ValueError: order 22 has no price", issue.get("title"));
    assertEquals("exception", issue.get("reason"));
    assertEquals("ValueError", issue.get("exception_type"));
    assertEquals("agent.py", issue.get("culprit.file"));
    assertEquals("total", issue.get("culprit.function"));
    assertEquals(3, (int) issue.get("culprit.line"));
    assertEquals(2, (int) issue.get("count"));
    assertEquals(1, (int) issue.get("first_revision"));
    assertEquals(3, (int) issue.get("last_revision"));
    assertEquals(latest.execution(), issue.get("last_execution_id"));
    assertEquals(now, Instant.parse(issue.get("last_seen_at")));
    assertEquals(List.of(1, 1), issue.get("hours.count"));
    assertEquals(List.of(3, 1), issue.get("revisions.revision"));
    assertFalse(issue.<Boolean>get("regressed"));
    assertEquals(
        List.of(latest.execution(), first.execution()),
        api.get("/v1/executions?issue_id=" + id).get("data.id"));
    Await.until("an event", () -> eventsOf(id).equals(List.of("issue.opened")));
    assertEquals(
        List.of(id),
        api.get(
                "/v1/issues?state=open&reason=exception&limit=1&agent_id="
                    + rows.agent
                    + "&cursor="
                    + rows.issueOf(other))
            .get("data.id"));
    assertEquals(2, (int) api.get("/v1/issues/counts?agent_id=" + rows.agent).get("open"));
  }

  @Test
  void aResolvedIssueOpensAgainWhenTheRunningRevisionFails() {
    Instant now = Instant.now();
    String id = rows.issueOf(rows.fail("no price", 1, now));
    api.patch("/v1/agents/" + rows.agent, "{\"script\": \"def main(): return 1\"}");
    rows.rows().run("update agent set running_revision = 2 where id = ?", rows.agent);
    Answer resolved = api.post("/v1/issues/" + id + "/resolve", null);
    assertEquals("resolved", resolved.get("state"));
    assertNotNull(resolved.get("resolved_at"));
    assertEquals(resolved.text(), api.post("/v1/issues/" + id + "/resolve", null).text());

    rows.fail("no price", 2, now.minusSeconds(9));
    rows.fail("no price", 1, Instant.now().plusSeconds(9));
    awaitCount(id, 3);
    assertEquals("resolved", issue(id).get("state"), "begun before, or of an earlier revision");

    rows.fail("no price", 2, Instant.now().plusSeconds(10));
    awaitCount(id, 4);
    assertEquals("open", issue(id).get("state"));
    assertTrue(issue(id).<Boolean>get("regressed"));
    assertNull(issue(id).get("resolved_at"));
    Await.until(
        "the events",
        () -> eventsOf(id).equals(List.of("issue.opened", "issue.resolved", "issue.regressed")));
  }

  @Test
  void aMutedIssueCountsInSilence() {
    String id = rows.issueOf(rows.fail("no price"));
    assertEquals("muted", api.post("/v1/issues/" + id + "/mute", null).get("state"));
    rows.fail("no price", 2, Instant.now().plusSeconds(9));
    awaitCount(id, 2);
    assertEquals("muted", issue(id).get("state"));
    assertEquals("open", api.post("/v1/issues/" + id + "/reopen", null).get("state"));
    Await.until(
        "the events",
        () -> eventsOf(id).equals(List.of("issue.opened", "issue.muted", "issue.reopened")));
  }

  @Test
  void aStormThatSeveralReplicasGroupIsCountedExactly() {
    int writers = 4;
    int each = 150;
    String id = rows.issueOf(rows.fail("no price"));
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(2 * writers);
    try {
      List<CompletableFuture<Void>> storm = new ArrayList<>();
      List<CompletableFuture<Void>> others = new ArrayList<>();
      for (int i = 0; i < writers; i++) {
        storm.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int n = 0; n < each; n++) {
                    rows.fail("no price");
                  }
                },
                threads));
        others.add(
            CompletableFuture.runAsync(
                () -> {
                  while (!done.get()) {
                    grouping.step();
                  }
                },
                threads));
      }
      // People change the state of the same row meanwhile.
      while (!storm.stream().allMatch(CompletableFuture::isDone)) {
        api.post("/v1/issues/" + id + "/mute", null);
        api.post("/v1/issues/" + id + "/reopen", null);
      }
      storm.forEach(CompletableFuture::join);
      awaitCount(id, 1 + writers * each);
      done.set(true);
      others.forEach(CompletableFuture::join);
    } finally {
      done.set(true);
      threads.shutdownNow();
    }
    assertEquals(1 + writers * each, (int) issue(id).get("count"));
    List<Integer> hours = issue(id).get("hours.count");
    assertEquals(1 + writers * each, hours.stream().mapToInt(Integer::intValue).sum());
    assertEquals(List.of(1 + writers * each), issue(id).get("revisions.count"));
  }

  private void groupPastFailures() {
    rows.rows()
        .run("update issue_progress set past_time = 'epoch', past_id = '', begun_at = now()");
    Await.until(
        "the past is grouped",
        () -> rows.rows().count("issue_progress where past_time is null") == 1);
  }

  @Test
  void pastFailuresAreGroupedWithoutEvents() {
    int many = IssueGrouping.BATCH + 5;
    Instant then = Instant.now().minus(Duration.ofDays(3));
    Failed last = null;
    for (int i = 0; i < many; i++) {
      // Several of one time, which the batches must not skip.
      last = rows.fail("no price", 1, then.plusSeconds(i / 50));
    }
    awaitCount(rows.issueOf(last), many);
    before = events.latest();

    // As after an upgrade: executions are there, and issues are not.
    rows.rows().run("delete from issue where agent_id = ?", rows.agent);
    groupPastFailures();

    String id = rows.issueOf(last);
    assertEquals(many, (int) issue(id).get("count"));
    groupPastFailures();
    assertEquals(many, (int) issue(id).get("count"), "once each");
    rows.fail("another cause");
    String all = "/v1/events?types=issue.opened&after=" + before + "&agent_id=" + rows.agent;
    Await.until("an event", () -> !api.get(all).<List<String>>get("data.subject").isEmpty());
    assertFalse(api.get(all).<List<String>>get("data.subject").contains(id));
  }

  @Test
  void failuresWhoseEventsWereDeletedAreFound() {
    String id = rows.issueOf(rows.fail("no price"));
    rows.rows().run("update event_log set removed_to = greatest(removed_to, 1)");
    rows.rows().run("update issue_progress set position = 0");
    Await.until(
        "the past is grouped",
        () -> rows.rows().count("issue_progress where past_time is null and position > 0") == 1);
    rows.fail("no price");
    awaitCount(id, 2);
  }

  @Test
  void issuesOfADeletedAgentAreResolvedAndStayAsLongAsItsHistory() {
    String id = rows.issueOf(rows.fail("no price"));
    assertEquals(204, api.delete("/v1/agents/" + rows.agent).status());
    assertEquals("resolved", issue(id).get("state"));
    assertEquals(404, api.post("/v1/issues/" + id + "/replay", "{}").status());
  }

  @Test
  void issuesGoWithTheirExecutions() {
    Instant old = Instant.now().minus(Duration.ofDays(90));
    Failed gone = rows.fail("no price", 1, old);
    Failed kept = rows.fail("no customer", 1, old);
    String issue = rows.issueOf(gone);
    String other = rows.issueOf(kept);
    rows.rows().run("delete from execution where id = ?", gone.execution());
    // Identifiers of this test are new, so what is old is so by a time in the future.
    ThrottledBatches batches = new ThrottledBatches(database, () -> true);
    OldIssues.remove(batches, Instant.now().plusSeconds(60));
    assertEquals(404, issue(issue).status());
    assertEquals(0, rows.rows().count("issue_hour where issue_id = ?", issue));
    assertEquals(200, issue(other).status());
    assertEquals(1, rows.rows().count("issue_execution where issue_id = ?", other));
  }

  @Test
  void onlyKeysThatMayWriteChangeIssues() {
    String id = rows.issueOf(rows.fail("no price"));
    Api reader = Api.as(Role.READ);
    Api executes = Api.as(Role.EXECUTE);
    assertEquals(200, reader.get("/v1/issues/" + id).status());
    for (String change : List.of("resolve", "mute", "reopen")) {
      assertEquals(403, executes.post("/v1/issues/" + id + "/" + change, null).status());
    }
    assertEquals(403, reader.post("/v1/issues/" + id + "/replay", "{}").status());
    assertEquals(201, executes.post("/v1/issues/" + id + "/replay", "{}").status());
    assertEquals(401, Api.withKey(null).get("/v1/issues").status());
  }

  @Test
  void mistakesAreNamed() {
    assertEquals(404, api.get("/v1/issues/issue_0").status());
    assertEquals(404, api.post("/v1/issues/issue_0/resolve", null).status());
    assertEquals(422, api.get("/v1/issues?state=opened").status());
    assertEquals(422, api.get("/v1/issues?reason=exeption").status());
    assertEquals(422, api.get("/v1/issues?cursor=agent_1").status());
    assertEquals(List.of(), api.get("/v1/issues?execution_id=exec_0").get("data.id"));
  }
}
