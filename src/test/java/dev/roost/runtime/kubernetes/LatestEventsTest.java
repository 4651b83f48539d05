package dev.roost.runtime.kubernetes;

import static dev.roost.runtime.kubernetes.TestEvents.parsed;
import static dev.roost.runtime.kubernetes.TestEvents.second;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fabric8.kubernetes.api.model.Event;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LatestEventsTest {
  private static final String JOB = "executor-1";
  private static final String POD = "executor-1-abcde";

  private final LatestEvents latest = new LatestEvents();

  private static Event event(String uid, String name, String type, String reason, int second) {
    return parsed(TestEvents.event(uid, "1", "Pod", name, type, reason, second(second)));
  }

  private static Event warning(String uid, String name, String reason, int second) {
    return event(uid, name, "Warning", reason, second);
  }

  private void created(String job) {
    latest.created(latest.follow(job));
  }

  private Optional<String> warning() {
    return latest.about(JOB, POD).warning();
  }

  @Test
  void anEventThatArrivesBeforeItsPodIsKnownIsFound() {
    created(JOB);
    latest.put(warning("a", POD, "FailedMount", 1));
    assertEquals(Optional.of("FailedMount: so"), warning());
    assertEquals(Optional.empty(), latest.about(JOB, JOB).warning(), "of the Job itself");
  }

  @Test
  void onlyTheLatestEventCounts() {
    created(JOB);
    latest.put(warning("a", POD, "FailedMount", 5));
    latest.put(warning("b", POD, "Unhealthy", 4));
    assertEquals(Optional.of("FailedMount: so"), warning());
    latest.put(event("c", POD, "Normal", "Pulled", 5));
    assertEquals(Optional.empty(), warning(), "the last one of the same second");
    latest.put(warning("a", POD, "FailedMount", 6));
    assertEquals(Optional.of("FailedMount: so"), warning(), "it has occurred again");
  }

  @Test
  void aJobThatMayHaveEarlierEventsHasToBeListed() {
    LatestEvents.Followed followed = latest.follow(JOB);
    latest.put(warning("b", POD, "FailedMount", 2));
    assertNull(latest.about(JOB, POD));
    latest.listed(followed, POD, List.of(warning("c", POD, "Failed", 3)));
    assertEquals(Optional.of("Failed: so"), warning());
    assertNull(latest.about(JOB, JOB), "only the pod's events were listed");
  }

  @Test
  void aListDoesNotReplaceWhatHasHappenedSince() {
    LatestEvents.Followed followed = latest.follow(JOB);
    latest.put(event("b", POD, "Normal", "Pulled", 3));
    latest.listed(followed, POD, List.of(warning("a", POD, "FailedMount", 2)));
    assertEquals(Optional.empty(), warning());
  }

  @Test
  void withoutItsLatestEventAJobHasToBeListed() {
    created(JOB);
    latest.put(warning("a", POD, "FailedMount", 1));
    latest.put(warning("b", POD, "Failed", 2));
    latest.remove(warning("a", POD, "FailedMount", 1));
    assertEquals(Optional.of("Failed: so"), warning());
    latest.remove(warning("b", POD, "Failed", 2));
    assertNull(latest.about(JOB, POD));
  }

  @Test
  void afterAGapNothingIsKnown() {
    LatestEvents.Followed followed = latest.follow(JOB);
    latest.clear();
    latest.created(followed);
    latest.listed(followed, POD, List.of());
    assertNull(latest.about(JOB, POD));
  }

  @Test
  void eventsOfOtherObjectsAreNotStored() {
    created(JOB);
    latest.put(warning("a", "web-0", "Failed", 1));
    latest.put(warning("b", "executor-2-abcde", "Failed", 1));
    latest.put(warning("c", "executor", "Failed", 1));
    assertEquals(Optional.empty(), warning());
    assertNull(latest.about("executor-2", "executor-2-abcde"));
    assertNull(latest.about("web", "web-0"));
  }

  @Test
  void theJobsAreBounded() {
    created(JOB);
    for (int i = 1; i <= LatestEvents.MAX_JOBS; i++) {
      created("builder-" + i);
    }
    assertNull(latest.about(JOB, POD), "the least recently used one is listed again");
    assertNotNull(latest.about("builder-1", "builder-1"));
    created(JOB);
    assertNotNull(latest.about("builder-1", "builder-1"));
    assertNull(latest.about("builder-2", "builder-2"));
  }

  @Test
  void theEventsOfAJobAreBounded() {
    created(JOB);
    for (int i = 0; i < LatestEvents.MAX_OBJECTS; i++) {
      latest.put(warning("a" + i, JOB + "-" + i, "Failed", 1));
      latest.put(warning("b" + i, JOB + "-" + i, "Failed", 2));
    }
    assertNotNull(latest.about(JOB, POD));
    latest.put(warning("c", POD, "Failed", 1));
    assertNull(latest.about(JOB, POD), "it is listed");
  }
}
