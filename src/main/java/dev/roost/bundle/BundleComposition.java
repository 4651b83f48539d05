package dev.roost.bundle;

import dev.roost.api.Problem;
import dev.roost.api.Problem.FieldError;
import dev.roost.api.Text;
import dev.roost.bundle.BundleRequest.Entry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A bundle composed from a base and what differs from it. Pure.
 *
 * @param manifest with the packs that it needs
 * @param basePacks the numbers of those packs of the base that it needs, in the manifest's order;
 *     the new pack comes after them
 * @param contents what the new pack has, one after another
 */
record BundleComposition(BundleManifest manifest, List<Integer> basePacks, List<Content> contents) {
  private static final String EMPTY_SHA256 = HexFormat.of().formatHex(Text.sha256(new byte[0]));

  /**
   * Bytes in the new pack.
   *
   * @param entry the number of the entry that they belong to
   */
  record Content(int entry, long sizeBytes, String sha256) {}

  /** What tells contents apart. */
  private record Key(String sha256, long sizeBytes) {}

  private record Location(int pack, long offset) {}

  /** Of the new pack. */
  long packBytes() {
    return contents.stream().mapToLong(Content::sizeBytes).sum();
  }

  /**
   * @param files without mistakes in themselves, and of limited size
   * @throws Problem validation_failed
   */
  static BundleComposition of(BundleManifest base, List<Entry> files, List<String> removed) {
    List<FieldError> errors = new ArrayList<>();
    Map<String, Integer> entries = new HashMap<>();
    for (int i = 0; i < files.size(); i++) {
      if (entries.putIfAbsent(files.get(i).path(), i) != null) {
        errors.add(new FieldError(path(i), "duplicate", "An earlier entry has the same path."));
      }
    }
    Map<String, BundleFile> all = new TreeMap<>(BundlePaths::compare);
    base.files().forEach(file -> all.put(file.path(), file));
    for (int i = 0; i < removed.size(); i++) {
      if (all.remove(removed.get(i)) == null) {
        errors.add(unknown(i, "The base has no file " + Text.quote(removed.get(i)) + "."));
      } else if (entries.containsKey(removed.get(i))) {
        errors.add(unknown(i, "files has an entry with this path."));
      }
    }
    List<Content> contents = place(base, files, all, errors);
    for (BundlePaths.Conflict conflict : BundlePaths.conflicts(all.keySet())) {
      Integer below = entries.get(conflict.below());
      int entry = below == null ? entries.get(conflict.file()) : below;
      errors.add(
          new FieldError(
              path(entry),
              "contradiction",
              "%s is a file, so it can't have the file %s below it."
                  .formatted(Text.quote(conflict.file()), Text.quote(conflict.below()))));
    }
    if (!errors.isEmpty()) {
      throw Problem.invalid(errors.subList(0, Math.min(errors.size(), MOST_ERRORS)));
    }
    return withoutUnusedPacks(base, List.copyOf(all.values()), contents);
  }

  /** The client fixes these first. */
  static final int MOST_ERRORS = 100;

  /** Adds the entries to the files of the bundle, and says which bytes the new pack has. */
  private static List<Content> place(
      BundleManifest base,
      List<Entry> files,
      Map<String, BundleFile> all,
      List<FieldError> errors) {
    Map<Key, Location> known = new HashMap<>();
    for (BundleFile file : base.files()) {
      known.putIfAbsent(
          new Key(file.sha256(), file.sizeBytes()), new Location(file.pack(), file.offset()));
    }
    List<Content> contents = new ArrayList<>();
    long end = 0;
    for (int i = 0; i < files.size(); i++) {
      Entry entry = files.get(i);
      Location location = new Location(0, 0);
      if (entry.sizeBytes() == 0) {
        if (!entry.sha256().equals(EMPTY_SHA256)) {
          errors.add(wrongDigest(i));
        }
      } else {
        Location added = new Location(base.packs().size(), end);
        location = known.putIfAbsent(new Key(entry.sha256(), entry.sizeBytes()), added);
        if (location == null) {
          location = added;
          contents.add(new Content(i, entry.sizeBytes(), entry.sha256()));
          end += entry.sizeBytes();
        }
      }
      all.put(
          entry.path(),
          new BundleFile(
              entry.path(),
              entry.sizeBytes(),
              entry.sha256(),
              entry.executable(),
              location.pack(),
              location.offset()));
    }
    return contents;
  }

  private static BundleComposition withoutUnusedPacks(
      BundleManifest base, List<BundleFile> files, List<Content> contents) {
    TreeSet<Integer> used = new TreeSet<>();
    for (BundleFile file : files) {
      if (file.sizeBytes() > 0) {
        used.add(file.pack());
      }
    }
    Map<Integer, Integer> numbers = new HashMap<>();
    used.forEach(pack -> numbers.put(pack, numbers.size()));
    int added = base.packs().size();
    List<Integer> basePacks = used.stream().filter(pack -> pack != added).toList();
    List<Long> sizes = new ArrayList<>(basePacks.stream().map(base.packs()::get).toList());
    if (!contents.isEmpty()) {
      sizes.add(contents.stream().mapToLong(Content::sizeBytes).sum());
    }
    List<BundleFile> renumbered =
        files.stream()
            .map(file -> file.sizeBytes() == 0 ? file : file.in(numbers.get(file.pack())))
            .toList();
    return new BundleComposition(new BundleManifest(sizes, renumbered), basePacks, contents);
  }

  static FieldError wrongDigest(int entry) {
    return new FieldError(
        "/files/%d/sha256".formatted(entry), "wrong_digest", "The bytes have another digest.");
  }

  private static String path(int entry) {
    return "/files/%d/path".formatted(entry);
  }

  private static FieldError unknown(int number, String detail) {
    return new FieldError("/removed/" + number, "not_a_choice", detail);
  }
}
