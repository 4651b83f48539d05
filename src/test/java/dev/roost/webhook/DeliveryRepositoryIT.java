package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.Plans;
import dev.roost.api.Role;
import dev.roost.db.Sql;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is taken and what is left, step by step: another replica leads, and does nothing. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class DeliveryRepositoryIT {
  private static final Duration LEASE = Duration.ofSeconds(30);

  @Inject DataSource database;
  @Inject DeliveryRepository book;

  private Hooks hooks;
  private String webhook;

  @BeforeEach
  void prepare() {
    hooks = new Hooks(Api.as(Role.WRITE), database);
    hooks.update("delete from event"); // Other tests with this database have made some.
    webhook = Hooks.id(hooks.make("https://example.org", "*"));
  }

  @AfterEach
  void end() {
    hooks.update("delete from webhook");
    hooks.update("delete from event");
  }

  @Test
  void whatIsTakenIsLeftAloneUntilTheLeaseIsOver() {
    pending(webhook, 1, "'a'");
    Claim first = claim(new Slots()).get(0);
    assertEquals(1, first.attempt());
    assertEquals(List.of(), claim(new Slots()));
    // The process that took it was killed, and its lease is over.
    hooks.update("update webhook_delivery set next_attempt_at = now()");
    Claim second = claim(new Slots()).get(0);
    assertEquals(first.deliveryId(), second.deliveryId());
    assertEquals(2, second.attempt());
    // The first was not killed but asleep: what it says comes too late, and changes nothing.
    settle(first, EndpointResponse.received(500, new byte[0]));
    assertEquals(List.of("pending"), hooks.query("select state from webhook_delivery"));
    settle(second, EndpointResponse.received(200, new byte[0]));
    settle(second, EndpointResponse.received(500, new byte[0]));
    assertEquals(List.of("succeeded"), hooks.query("select state from webhook_delivery"));
    assertEquals(List.of("2"), hooks.query("select attempt from webhook_attempt"));
  }

  @Test
  void laterOnesOfASubjectWaitForTheEarlier() {
    pending(webhook, 6, "chr(97 + n % 2)");
    List<Claim> first = claim(new Slots());
    assertEquals(List.of(1L, 2L), positions(first));
    assertEquals(List.of(), claim(new Slots()));
    settle(first.get(1), EndpointResponse.received(200, new byte[0]));
    List<Claim> second = claim(new Slots());
    assertEquals(List.of(4L), positions(second));
    settle(first.get(0), EndpointResponse.received(500, new byte[0]));
    assertEquals(List.of(), claim(new Slots()), "1 is pending still, so 3 waits");
    hooks.update("update webhook_delivery set next_attempt_at = now() where position = 1");
    assertEquals(List.of(1L), positions(claim(new Slots())));
  }

  @Test
  void anEarlierOneThatBecomesPendingAgainGoesFirst() {
    pending(webhook, 3, "'a'");
    settle(claim(new Slots()).get(0), EndpointResponse.received(410, new byte[0]));
    hooks.update("update webhook set state = 'active'");
    hooks.update(
        "update webhook_delivery set state = 'pending', next_attempt_at = now() where position = 1");
    assertEquals(List.of(1L), positions(claim(new Slots())));
  }

  @Test
  void whatIsParkedBehindNothingIsFound() {
    pending(webhook, 2, "'a'");
    claim(new Slots());
    hooks.update("delete from webhook_delivery where position = 1");
    assertEquals(List.of(), claim(new Slots()));
    book.sweep();
    assertEquals(List.of(2L), positions(claim(new Slots())));
  }

  @Test
  void capacityIsKeptAndSharedFairly() {
    pending(webhook, 100, "'a' || n");
    String other = Hooks.id(hooks.make("https://example.org", "*"));
    hooks.update(
        """
        insert into webhook_delivery (id, webhook_id, position, event_type, subject, state, next_attempt_at, created_at)
        select 'dlv_o' || position, '%s', position, type, subject, 'pending', now(), now() from event"""
            .formatted(other));
    Slots slots = new Slots();
    List<Claim> claims = claim(slots);
    assertEquals(2 * Slots.EACH, claims.size());
    claims.forEach(claim -> slots.begin(claim.webhookId()));
    assertEquals(List.of(), claim(slots));
    for (int i = 0; i < Slots.EACH; i++) {
      slots.end(webhook, true);
    }
    slots.end(other, false);
    List<String> owners = claim(slots).stream().map(Claim::webhookId).sorted().toList();
    assertEquals(List.of(webhook, other).stream().sorted().toList(), owners, "one for each");

    Slots full = new Slots();
    for (int i = 0; i < Slots.ALL - 4; i++) {
      full.begin("hook_" + i);
    }
    List<Claim> last = claim(full);
    assertEquals(4, last.size());
    assertEquals(2, last.stream().filter(claim -> claim.webhookId().equals(other)).count());
  }

  @Test
  void anExpiredEventIsReported() {
    pending(webhook, 1, "'a'");
    hooks.update("delete from event");
    assertEquals(null, claim(new Slots()).get(0).event());
  }

  @Test
  void ofTenThousandOfASubjectOneIsTakenAndTheOthersAreParked() {
    pendingTwice();
    Slots slots = new Slots();
    List<Claim> claims = new ArrayList<>(claim(slots));
    claims.forEach(claim -> slots.begin(claim.webhookId()));
    while (book.next(slots, sending(claims)).filter(Duration::isNegative).isPresent()) {
      claim(slots);
    }
    assertEquals(
        List.of("9999"),
        hooks.query("select count(*) from webhook_delivery where next_attempt_at is null"));
    assertEquals(1 + Slots.EACH, claims.size());
  }

  @Test
  void noStatementReadsAllThatWait() throws SQLException {
    pendingTwice();
    List<String> reading = new ArrayList<>();
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute("set local plan_cache_mode = force_generic_plan");
        for (Sql each : DeliveryRepository.OFTEN) {
          String plan = Plans.of(statement, typed(each.text()));
          if (plan.matches("(?s).*Seq Scan on webhook_(delivery|attempt).*")) {
            reading.add(plan);
          }
        }
        // One that looked at each for each would find the first ones again for every row.
        String sweep = Plans.of(statement, DeliveryRepository.SWEEP.text());
        if (!sweep.contains("InitPlan") || sweep.contains("SubPlan")) {
          reading.add(sweep);
        }
      } finally {
        connection.rollback();
        connection.setAutoCommit(true);
      }
    }
    assertEquals("", String.join("\n", reading));
  }

  /** With the types of the arrays, which PostgreSQL gets with their values otherwise. */
  private static String typed(String text) {
    return text.replace("unnest(?, ?)", "unnest(?::text[], ?::text[])")
        .replace("unnest(?, ?, ?)", "unnest(?::text[], ?::int8[], ?::bool[])")
        .replace(
            "unnest(?, ?, ?, ?, ?, ?, ?, ?)",
            "unnest(?::text[], ?::int8[], ?::text[], ?::float8[], ?::float8[], ?::float8[], ?::int8[], ?::text[])");
  }

  private List<Claim> claim(Slots slots) {
    return book.claim(slots, Set.of(), LEASE);
  }

  private void settle(Claim claim, EndpointResponse answer) {
    Verdict verdict = Verdict.of(answer, false, claim.untried(), 0.5);
    book.settle(
        List.of(
            new DeliveryRepository.Outcome(claim, answer, verdict, Duration.ZERO, Duration.ZERO)));
  }

  private static List<Long> positions(List<Claim> claims) {
    return claims.stream().map(claim -> claim.event().position()).toList();
  }

  private static Set<String> sending(List<Claim> claims) {
    return claims.stream().map(Claim::deliveryId).collect(Collectors.toSet());
  }

  /**
   * Makes events at positions from 1 on and a delivery of each.
   *
   * @param subject SQL of n, the position
   */
  private void pending(String webhookId, int count, String subject) {
    hooks.update(
        "insert into event (position, type, subject, data)"
            + " select n, 'agent.updated', %s, '{}' from generate_series(1, %d) n"
                .formatted(subject, count));
    hooks.update(
        """
        insert into webhook_delivery (id, webhook_id, position, event_type, subject, state, next_attempt_at, created_at)
        select 'dlv_' || position, '%s', position, type, subject, 'pending', now(), now() from event
        where position <= %d"""
            .formatted(webhookId, count));
  }

  /** 10,000 of one subject, and of another webhook 10,000 each with its own. */
  private void pendingTwice() {
    pending(webhook, 10_000, "'one'");
    hooks.update(
        """
        insert into event (position, type, subject, data)
        select n, 'agent.updated', 'many' || n, '{}' from generate_series(10001, 20000) n""");
    String dead = Hooks.id(hooks.make("https://example.org", "*"));
    hooks.update(
        """
        insert into webhook_delivery (id, webhook_id, position, event_type, subject, state, next_attempt_at, created_at)
        select 'dlv_d' || position, '%s', position, type, subject, 'pending', now(), now()
        from event where position > 10000"""
            .formatted(dead));
    hooks.update("analyze webhook_delivery");
  }
}
