package dev.roost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A table is written by one package, whose rules its rows follow; others read it. */
class TableOwnershipTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/roost");

  private static final Map<String, Set<String>> TABLES =
      Map.ofEntries(
          Map.entry(
              "agent",
              Set.of("agent", "agent_preload", "agent_revision", "agent_tag", "saved_payload")),
          Map.entry("api", Set.of("api_key", "login_link", "login_session")),
          Map.entry("builds", Set.of("base_image", "build", "build_module", "builder_job")),
          Map.entry("bundle", Set.of("bundle", "bundle_file")),
          Map.entry(
              "datastore",
              Set.of(
                  "agent_store",
                  "datastore",
                  "datastore_change",
                  "datastore_entry",
                  "datastore_lock",
                  "datastore_receipt")),
          Map.entry("event", Set.of("event", "event_log")),
          Map.entry(
              "execution",
              Set.of(
                  "approval",
                  "approval_link",
                  "execution",
                  "executor_job",
                  "executor_job_step",
                  "stream_chunk",
                  "job_event",
                  "job_file")),
          Map.entry("executor", Set.of("executor", "setting")),
          Map.entry("file", Set.of("file")),
          Map.entry(
              "issue",
              Set.of(
                  "issue",
                  "issue_execution",
                  "issue_hour",
                  "issue_progress",
                  "issue_replay",
                  "issue_revision")),
          Map.entry("log", Set.of("log_entry")),
          Map.entry(
              "notification",
              Set.of(
                  "notification",
                  "notification_channel",
                  "notification_message",
                  "notification_progress")),
          Map.entry("rollout", Set.of("rollout", "rollout_agent")),
          Map.entry("schedule", Set.of("schedule")),
          Map.entry("swarmnode", Set.of("swarmnode_asset", "swarmnode_storage_request")),
          Map.entry("url", Set.of("agent_url")),
          Map.entry("view", Set.of("saved_view")),
          Map.entry(
              "search", Set.of("search_chunk", "search_open", "search_progress", "search_segment")),
          Map.entry("webhook", Set.of("webhook", "webhook_attempt", "webhook_delivery")));

  /** Writes to tables of other packages, each for a reason. */
  private static final Set<String> EXCEPTIONS =
      Set.of(
          // A Build that succeeds becomes the running revision in the same statement.
          "builds writes agent",
          // A job that gets a file keeps it from being removed, in the same statement.
          "execution writes file",
          // Whether the welcome agent was created once.
          "start writes setting");

  /** Of SQL; "for update of", "for update skip locked" and the like aren't writes. */
  private static final Pattern WRITE =
      Pattern.compile(
          "\\b(?:insert into|delete from|(?<!for )(?<!do )update) ([a-z][a-z_]+)\\b(?! locked)");

  private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\\n]*");

  @Test
  void eachTableIsWrittenByItsPackageAlone() throws IOException {
    Map<String, String> owners = new TreeMap<>();
    TABLES.forEach((owner, tables) -> tables.forEach(table -> owners.put(table, owner)));
    Set<String> foreign = new TreeSet<>();
    Set<String> written = new TreeSet<>();
    for (Path source : sources()) {
      String text = COMMENT.matcher(Files.readString(source)).replaceAll("");
      String writer = SOURCES.relativize(source).getName(0).toString();
      for (Matcher write = WRITE.matcher(text); write.find(); ) {
        String table = write.group(1);
        String owner = owners.get(table);
        if (owner != null) {
          written.add(table);
          if (!owner.equals(writer)) {
            foreign.add(writer + " writes " + table);
          }
        }
      }
    }
    assertEquals(new TreeSet<>(EXCEPTIONS), foreign);
    assertTrue(written.size() > owners.size() / 2, () -> "the pattern finds only " + written);
  }

  @Test
  void eachTableHasAnOwner() throws IOException {
    Set<String> created = new TreeSet<>();
    Pattern create =
        Pattern.compile("(?m)^create (?:unlogged )?table (?:if not exists )?([a-z_]+)");
    try (Stream<Path> migrations = Files.list(Path.of("src/main/resources/db/migration"))) {
      for (Path migration : migrations.toList()) {
        for (Matcher table = create.matcher(Files.readString(migration)); table.find(); ) {
          created.add(table.group(1));
        }
      }
    }
    Set<String> owned =
        TABLES.values().stream()
            .flatMap(Set::stream)
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(created, owned);
  }

  private static Set<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      return files.filter(file -> file.toString().endsWith(".java")).collect(Collectors.toSet());
    }
  }
}
