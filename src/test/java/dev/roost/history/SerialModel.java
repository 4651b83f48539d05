package dev.roost.history;

import dev.roost.history.StoreCall.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Histories that a store would make that does one operation after another. */
final class SerialModel {
  private static final long MICRO = 1_000;
  private static final int PROCESSES = 5;
  private static final List<String> KEYS = List.of("a/1", "a/2", "a/3", "b/1", "b/2", "b/3");

  private record Entry(long version, String value, long expires) {}

  private final Random random;
  private final TreeMap<String, Entry> entries = new TreeMap<>();
  private final Map<String, Long> free = new HashMap<>();
  private final List<StoreCall> history = new ArrayList<>();
  private long version;
  private long now;

  SerialModel(long seed) {
    random = new Random(seed);
  }

  List<StoreCall> run(int operations) {
    for (int i = 0; i < operations; i++) {
      now += (1 + random.nextInt(400)) * MICRO;
      entries.values().removeIf(entry -> entry.expires <= now);
      String process = "p" + random.nextInt(PROCESSES);
      long invoked = Math.max(now - random.nextInt(600) * MICRO, free.getOrDefault(process, 0L));
      if (invoked <= now) {
        perform("o" + i, process, invoked);
      }
    }
    return history;
  }

  private void perform(String id, String process, long invoked) {
    boolean isKnown = random.nextInt(20) > 0;
    boolean happens = isKnown || random.nextBoolean();
    List<Read> reads = new ArrayList<>();
    List<StoreWrite> writes = new ArrayList<>();
    TreeMap<String, Entry> before = new TreeMap<>(entries);
    String key = KEYS.get(random.nextInt(KEYS.size()));
    String other = KEYS.get(random.nextInt(KEYS.size()));
    int kind = random.nextInt(8);
    switch (kind) {
      case 0 -> reads.add(read(key, false));
      case 1 -> writes.add(write(id, key, 0));
      case 2 -> writes.add(write(id, key, (1 + random.nextInt(8)) * 1_000 * MICRO));
      case 3 -> {
        reads.add(read(key, false));
        writes.add(remove(key, reads.get(0).version()));
      }
      case 4 -> {
        if (entries.containsKey(key)) {
          writes.add(remove(key, StoreCall.UNSEEN));
        }
      }
      case 5 ->
          KEYS.stream()
              .filter(one -> one.startsWith("a"))
              .forEach(one -> reads.add(read(one, true)));
      case 6 -> {
        KEYS.stream().filter(one -> one.startsWith("b")).forEach(one -> reads.add(read(one, true)));
        writes.add(write(id, key, 0));
      }
      default -> {
        reads.add(read(key, false));
        writes.add(write(id, key, 0));
        if (!other.equals(key)) {
          reads.add(read(other, false));
          writes.add(
              random.nextBoolean() ? write(id, other, 0) : remove(other, reads.get(1).version()));
        }
      }
    }
    if (!happens) {
      entries.clear();
      entries.putAll(before);
    }
    long returned = now + (1 + random.nextInt(600)) * MICRO;
    free.put(process, returned + 1);
    history.add(
        new StoreCall(
            id,
            process,
            "kind " + kind,
            invoked,
            isKnown ? returned : StoreCall.NEVER,
            isKnown ? Outcome.OK : Outcome.UNKNOWN,
            reads,
            isKnown ? writes : writes.stream().map(SerialModel::unseen).toList()));
  }

  private static StoreWrite unseen(StoreWrite write) {
    return write.at(StoreCall.UNSEEN);
  }

  private Read read(String key, boolean scanned) {
    Entry entry = entries.get(key);
    if (entry == null) {
      return new Read(key, 0, null, scanned);
    }
    // Some of what a store offers shows the value alone.
    long shown = !scanned && random.nextInt(3) == 0 ? StoreCall.UNSEEN : entry.version;
    return new Read(key, shown, entry.value, scanned);
  }

  private StoreWrite write(String id, String key, long ttl) {
    version++;
    entries.put(key, new Entry(version, id, ttl == 0 ? Long.MAX_VALUE : now + ttl));
    return new StoreWrite(key, version, id, ttl, false);
  }

  private StoreWrite remove(String key, long removed) {
    entries.remove(key);
    return StoreWrite.removal(key, removed);
  }
}
