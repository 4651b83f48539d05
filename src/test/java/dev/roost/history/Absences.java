package dev.roost.history;

import dev.roost.history.Dependencies.Absence;
import dev.roost.history.Dependencies.Key;
import dev.roost.history.Dependencies.Loose;
import dev.roost.history.Dependencies.Version;
import dev.roost.history.Graph.Edge;
import dev.roost.history.Graph.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/**
 * Finds for each read that found nothing when that was: before the first version, or after one was
 * removed or had expired and before the next was written. Where several are possible, it tries.
 */
final class Absences {
  private static final int STEPS = 200_000;

  private record Option(String text, List<Edge> edges) {}

  private static final class Question {
    final Absence absence;
    final List<Option> options;

    Question(Absence absence, List<Option> options) {
      this.absence = absence;
      this.options = options;
    }
  }

  private final Graph graph;
  private final Dependencies dependencies;
  private final List<Anomaly> anomalies = new ArrayList<>();
  private List<Question> open = new ArrayList<>();

  Absences(Dependencies dependencies) {
    this.graph = dependencies.graph;
    this.dependencies = dependencies;
  }

  /** Connects those that can be explained in one way only. */
  List<Anomaly> connectCertain() {
    dependencies.keys.forEach(
        (name, key) -> {
          for (Absence absence : key.absences) {
            List<Option> options = options(name, key, absence);
            if (options.isEmpty()) {
              anomalies.add(lost(name, key, absence));
            } else if (options.size() == 1) {
              options.get(0).edges.forEach(graph::connect);
            } else {
              open.add(new Question(absence, options));
            }
          }
        });
    return anomalies;
  }

  /** Explains the others, in a graph without a cycle. */
  List<Anomaly> solve() {
    open.sort(Comparator.comparingLong(one -> graph.earliest(one.absence.node())));
    boolean changed = true;
    while (changed) {
      changed = false;
      List<Question> left = new ArrayList<>();
      for (Question question : open) {
        List<Option> all = List.copyOf(question.options);
        keepPossible(question.options);
        if (question.options.isEmpty()) {
          return List.of(impossible(question, all));
        }
        if (question.options.size() == 1) {
          connect(question.options.get(0));
          changed = true;
        } else {
          left.add(question);
        }
      }
      open = left;
    }
    return search();
  }

  /** Removes the impossible ones until two are left that are possible. */
  private void keepPossible(List<Option> options) {
    for (int possible = 0; possible < 2 && possible < options.size(); ) {
      if (connect(options.get(possible))) {
        takeBack(options.get(possible));
        possible++;
      } else {
        options.remove(possible);
      }
    }
  }

  private List<Anomaly> search() {
    int[] choice = new int[open.size()];
    Deque<Option> taken = new ArrayDeque<>();
    int at = 0;
    int furthest = 0;
    for (int step = 0; at < choice.length; step++) {
      Question question = open.get(at);
      furthest = Math.max(furthest, at);
      if (step > STEPS || (at == 0 && choice[0] == question.options.size())) {
        String name = step > STEPS ? "undecided" : "absence that fits nowhere";
        return List.of(
            new Anomaly(name, impossible(open.get(furthest), question.options).evidence()));
      }
      if (choice[at] == question.options.size()) {
        choice[at] = 0;
        at--;
        takeBack(taken.pop());
      } else if (connect(question.options.get(choice[at]++))) {
        taken.push(question.options.get(choice[at] - 1));
        at++;
      }
    }
    return List.of();
  }

  /** Adds all edges, or none when one of them would close a cycle. */
  private boolean connect(Option option) {
    List<Edge> done = new ArrayList<>();
    for (Edge edge : option.edges) {
      if (edge.from() != edge.to() && graph.reaches(edge.to(), edge.from())) {
        graph.disconnect(done);
        return false;
      }
      if (edge.from() != edge.to()) {
        graph.connect(edge);
        done.add(edge);
      }
    }
    return true;
  }

  private void takeBack(Option option) {
    graph.disconnect(option.edges.stream().filter(edge -> edge.from() != edge.to()).toList());
  }

  private List<Option> options(String name, Key key, Absence absence) {
    List<Option> options = new ArrayList<>();
    Version first = key.versions.isEmpty() ? null : key.versions.firstEntry().getValue();
    if (first == null || canPrecede(absence.node(), first.writer)) {
      options.add(new Option("before the first version", before(name, absence, first)));
    }
    for (Version version : key.versions.values()) {
      boolean possible =
          canPrecede(version.writer, absence.node())
              && (version.next == null || canPrecede(absence.node(), version.next.writer));
      if (possible && version.remover >= 0) {
        add(options, name, absence, version, version.remover, List.of());
      } else if (possible) {
        if (version.expiry >= 0) {
          add(options, name, absence, version, version.expiry, List.of());
        }
        key.loose.forEach(loose -> add(options, name, absence, version, loose));
      }
    }
    return options;
  }

  private boolean canPrecede(int first, int second) {
    return graph.earliest(first) <= graph.latest(second);
  }

  private void add(
      List<Option> options, String name, Absence absence, Version version, Loose loose) {
    int node = loose.node();
    boolean inTime =
        canPrecede(version.writer, node)
            && (version.next == null || canPrecede(node, version.next.writer));
    if (inTime && loose.write().removes()) {
      List<Edge> removals = Dependencies.removals(name, version, node);
      add(options, name, absence, version, node, removals);
    } else if (inTime && loose.write().ttl() > 0) {
      if (graph.earliest(node) + loose.write().ttl() <= graph.latest(absence.node())) {
        Edge after = new Edge(version.writer, node, Kind.WRITE_WRITE, name, false, false);
        add(options, name, absence, version, node, List.of(after));
      }
    }
  }

  private void add(
      List<Option> options,
      String name,
      Absence absence,
      Version version,
      int removal,
      List<Edge> more) {
    if (canPrecede(removal, absence.node())) {
      List<Edge> edges = new ArrayList<>(more);
      edges.add(new Edge(removal, absence.node(), Kind.WRITE_READ, name, false, false));
      edges.addAll(before(name, absence, version.next));
      String text = "after version " + version.version + ", removed by " + graph.label(removal);
      options.add(new Option(text, edges));
    }
  }

  private List<Edge> before(String name, Absence absence, Version next) {
    return next == null
        ? List.of()
        : List.of(
            new Edge(
                absence.node(),
                next.writer,
                Kind.READ_WRITE,
                name,
                false,
                absence.read().scanned()));
  }

  private Anomaly lost(String name, Key key, Absence absence) {
    StringBuilder evidence =
        new StringBuilder(
            "%s found no %s, and nothing had removed it\n"
                .formatted(graph.label(absence.node()), name));
    for (Version version : key.versions.values()) {
      if (canPrecede(version.writer, absence.node())
          && (version.next == null || canPrecede(absence.node(), version.next.writer))) {
        evidence.append("written by ").append(graph.label(version.writer)).append('\n');
      }
    }
    return new Anomaly("entry disappeared", evidence.toString());
  }

  private Anomaly impossible(Question question, List<Option> options) {
    StringBuilder evidence = new StringBuilder();
    evidence
        .append(graph.label(question.absence.node()))
        .append("\nfound no ")
        .append(question.absence.read().key())
        .append(". It can't have been:\n");
    for (Option option : options) {
      evidence.append(option.text).append('\n');
      for (Edge edge : option.edges) {
        List<Edge> way = graph.path(edge.to(), edge.from());
        if (!way.isEmpty()) {
          evidence.append(Cycles.describe(graph, way).indent(4));
          break;
        }
      }
    }
    return new Anomaly("absence that fits nowhere", evidence.toString());
  }
}
