package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.event.EventLog;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import javax.sql.DataSource;

/** Webhooks, events and deliveries of tests. */
final class Hooks {
  /** What is a URL of a webhook, or looks like one. */
  static final String[] NEARLY_URLS = {
    "https://user:password@example.org:8443/hook?a=b&c=d#part",
    "http://[2001:db8::1]:81/a//b",
    "http://[::ffff:127.0.0.1]/",
    "http://[fe80::1%25eth0]:80/",
    "http://[::1%lo]/",
    "https://[v1.x]/",
    "https://bücher.example/ä?ö",
    "https://xn--bcher-kva.example./",
    "http://①②⑦.⓪.⓪.①/",
    "http://0x7f.1/",
    "http://0177.0.0.1:65536/",
    "http://localhost:0/",
    "http://example.org\\@127.0.0.1/",
    "http://example.org/\r\nHost: x",
    "http://exam\tple.org/%00%zz",
    "https://example.org:/",
    "mailto:a@example.org",
  };

  private final Api api;
  private final DataSource database;

  Hooks(Api api, DataSource database) {
    this.api = api;
    this.database = database;
  }

  /** Makes a webhook and answers its path. */
  String make(String url, String... types) {
    Answer made =
        api.post(
            "/v1/webhooks",
            "{\"url\": \"%s\", \"event_types\": [\"%s\"]}"
                .formatted(url, String.join("\", \"", types)));
    assertEquals(201, made.status(), made.text());
    return "/v1/webhooks/" + made.get("id");
  }

  /** Makes an event, as a trigger or a feature does. */
  void event(String type, String subject, String agentId, String data) {
    try (Connection connection = database.getConnection()) {
      EventLog.note(connection, type, subject, agentId, data);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  void event(String type, String subject) {
    event(type, subject, null, "{\"id\":\"" + subject + "\"}");
  }

  /** Waits until the log of events has given positions to all of them. */
  void placed() {
    Await.until(
        "every event has its position",
        () -> query("select count(*) from event where position is null").equals(List.of("0")));
  }

  /** The first columns of the rows, as text. */
  List<String> query(String sql) {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> values = new ArrayList<>();
      while (rows.next()) {
        values.add(rows.getString(1));
      }
      return values;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  int update(String sql) {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      return statement.executeUpdate(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Makes everything of a webhook due that waits for its next attempt. */
  void hurry(String webhook) {
    update(
        "update webhook_delivery set next_attempt_at = now() where state = 'pending'"
            + " and next_attempt_at > now() and webhook_id = '%s'".formatted(id(webhook)));
  }

  static String id(String webhook) {
    return webhook.substring(webhook.lastIndexOf('/') + 1);
  }

  /** The webhook's deliveries, oldest first, of which there have to be so many. */
  List<String> deliveries(String webhook, int count) {
    Await.until(
        count + " deliveries are made",
        () ->
            api.get(webhook + "/deliveries?limit=200").<List<String>>get("data.id").size()
                == count);
    List<String> ids = new ArrayList<>(api.get(webhook + "/deliveries?limit=200").get("data.id"));
    Collections.reverse(ids);
    return ids;
  }

  /** Of all deliveries of a webhook, in the order of the events. */
  List<String> subjects(String webhook) {
    List<String> subjects =
        new ArrayList<>(
            api.get(webhook + "/deliveries?limit=200").<List<String>>get("data.subject"));
    Collections.reverse(subjects);
    return subjects;
  }

  /** Waits until the delivery is as the test wants it. */
  Answer await(String webhook, String delivery, String what, Predicate<Answer> wanted) {
    Answer[] last = new Answer[1];
    Await.until(
        what,
        () -> {
          last[0] = api.get(webhook + "/deliveries/" + delivery);
          return wanted.test(last[0]);
        });
    return last[0];
  }

  Answer ended(String webhook, String delivery) {
    return await(
        webhook, delivery, "it has ended", answer -> !"pending".equals(answer.get("state")));
  }

  Answer tried(String webhook, String delivery, int attempts) {
    return await(
        webhook,
        delivery,
        "attempt " + attempts + " is over",
        answer -> answer.<List<Object>>get("attempts_log").size() >= attempts);
  }
}
