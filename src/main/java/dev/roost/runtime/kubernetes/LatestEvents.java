package dev.roost.runtime.kubernetes;

import io.fabric8.kubernetes.api.model.Event;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The latest event about each followed Job and each of its pods. Jobs are followed by name, so an
 * event is found even if it arrives before its pod is known. The number of events is bounded; a Job
 * of which an event was dropped is no longer followed, and its events have to be listed.
 */
final class LatestEvents {
  /** More Jobs are rarely pending at the same time; the least recently used one is dropped. */
  static final int MAX_JOBS = 2_000;

  /** The Job, its pod, and objects of the same name. */
  static final int MAX_OBJECTS = 4;

  /** Messages have up to 1,024 characters; only old clients can exceed that. */
  private static final int MAX_TEXT = 4_000;

  private final Map<String, Followed> jobs =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Followed> eldest) {
          return size() > MAX_JOBS;
        }
      };

  /** A Job whose events are stored from now on. */
  static final class Followed {
    private final String job;
    private final Map<String, Latest> latest = new HashMap<>();

    /** Objects whose earlier events have been added from a list. */
    private final Set<String> listed = new HashSet<>();

    /** The Job was created after it was followed, so that there are no earlier events. */
    private boolean complete;

    private Followed(String job) {
      this.job = job;
    }
  }

  /**
   * @param warning null for an event of type Normal
   */
  private record Latest(String uid, Instant time, String warning) {
    static Latest of(Event event) {
      return new Latest(
          event.getMetadata().getUid(),
          Events.time(event),
          Events.isWarning(event) ? bounded(Events.text(event)) : null);
    }

    private static String bounded(String text) {
      return text.substring(0, Math.min(text.length(), MAX_TEXT));
    }
  }

  /**
   * What the stored events answer.
   *
   * @param warning the latest event about an object, if it is a warning
   */
  record Known(Optional<String> warning) {}

  synchronized Followed follow(String job) {
    return jobs.computeIfAbsent(job, Followed::new);
  }

  /** The Job has been created after {@link #follow}. */
  synchronized void created(Followed followed) {
    followed.complete = true;
  }

  /** Adds the events of an object from a list that was requested after {@link #follow}. */
  synchronized void listed(Followed followed, String object, List<Event> events) {
    followed.listed.add(object);
    for (Event event : events) {
      Latest found = Latest.of(event);
      Latest known = followed.latest.get(object);
      if (known == null || found.time().isAfter(known.time())) {
        followed.latest.put(object, found);
      }
    }
    bound(followed);
  }

  /** An event was created or updated. */
  synchronized void put(Event event) {
    String object = event.getInvolvedObject().getName();
    Followed followed = followed(object);
    if (followed == null) {
      return;
    }
    Latest found = Latest.of(event);
    Latest known = followed.latest.get(object);
    // Of events at the same second, the last one to arrive is the latest.
    if (known == null
        || Objects.equals(found.uid(), known.uid())
        || !found.time().isBefore(known.time())) {
      followed.latest.put(object, found);
      bound(followed);
    }
  }

  /** An event was deleted: without the latest one, an earlier one may be the latest. */
  synchronized void remove(Event event) {
    String object = event.getInvolvedObject().getName();
    Followed followed = followed(object);
    if (followed != null
        && followed.latest.containsKey(object)
        && Objects.equals(followed.latest.get(object).uid(), event.getMetadata().getUid())) {
      jobs.remove(followed.job);
    }
  }

  /** Events may have been missed. */
  synchronized void clear() {
    jobs.clear();
  }

  /**
   * @param object the Job or one of its pods
   * @return null when the stored events may be incomplete
   */
  synchronized Known about(String job, String object) {
    Followed followed = jobs.get(job);
    if (followed == null || !(followed.complete || followed.listed.contains(object))) {
      return null;
    }
    return new Known(Optional.ofNullable(followed.latest.get(object)).map(Latest::warning));
  }

  /** The name of a pod is that of its Job and a suffix. */
  private Followed followed(String object) {
    if (object == null) {
      return null;
    }
    Followed job = jobs.get(object);
    int suffix = object.lastIndexOf('-');
    return job != null || suffix < 0 ? job : jobs.get(object.substring(0, suffix));
  }

  private void bound(Followed followed) {
    if (followed.latest.size() > MAX_OBJECTS || followed.listed.size() > MAX_OBJECTS) {
      jobs.remove(followed.job, followed);
    }
  }
}
