package dev.roost.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.bundle.BundleComposition.Content;
import dev.roost.bundle.BundleRequest.Entry;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class BundleCompositionTest {
  private static String digest(String content) {
    return HexFormat.of().formatHex(Text.sha256(content));
  }

  private static Entry entry(String path, String content) {
    return new Entry(path, content.getBytes(StandardCharsets.UTF_8).length, digest(content), false);
  }

  private static BundleFile file(String path, String content, int pack, long offset) {
    return new BundleFile(path, content.length(), digest(content), false, pack, offset);
  }

  private static BundleManifest whole(Entry... entries) {
    return BundleComposition.of(BundleManifest.EMPTY, List.of(entries), List.of()).manifest();
  }

  private static List<String> pointers(
      BundleManifest base, List<Entry> files, List<String> removed) {
    return assertThrows(Problem.class, () -> BundleComposition.of(base, files, removed))
        .errors()
        .stream()
        .map(Problem.FieldError::pointer)
        .toList();
  }

  @Test
  void aPackHasEachContentOnce() {
    BundleComposition made =
        BundleComposition.of(
            BundleManifest.EMPTY,
            List.of(
                entry("src/b.py", "two"),
                entry("a.py", "one!"),
                entry("empty", ""),
                entry("copy", "two")),
            List.of());
    assertEquals(
        List.of(new Content(0, 3, digest("two")), new Content(1, 4, digest("one!"))),
        made.contents());
    assertEquals(7, made.packBytes());
    assertEquals(
        new BundleManifest(
            List.of(7L),
            List.of(
                file("a.py", "one!", 0, 3),
                file("copy", "two", 0, 0),
                file("empty", "", 0, 0),
                file("src/b.py", "two", 0, 0))),
        made.manifest());
  }

  @Test
  void aMovedFileNeedsNoBytes() {
    BundleManifest base = whole(entry("a", "one"), entry("b", "two"));
    BundleComposition moved = BundleComposition.of(base, List.of(entry("c", "one")), List.of("a"));
    assertEquals(List.of(), moved.contents());
    assertEquals(List.of(0), moved.basePacks());
    assertEquals(
        new BundleManifest(List.of(6L), List.of(file("b", "two", 0, 3), file("c", "one", 0, 0))),
        moved.manifest());
  }

  @Test
  void packsThatAreNotNeededAnyMoreAreLeftOut() {
    BundleManifest first = whole(entry("a", "one"), entry("b", "two"));
    BundleManifest second =
        BundleComposition.of(first, List.of(entry("c", "three")), List.of()).manifest();
    assertEquals(List.of(6L, 5L), second.packs());
    BundleComposition third =
        BundleComposition.of(second, List.of(entry("d", "four")), List.of("a", "b"));
    assertEquals(List.of(1), third.basePacks());
    assertEquals(
        new BundleManifest(
            List.of(5L, 4L), List.of(file("c", "three", 0, 0), file("d", "four", 1, 0))),
        third.manifest());
    BundleComposition last = BundleComposition.of(third.manifest(), List.of(), List.of("c", "d"));
    assertEquals(BundleManifest.EMPTY, last.manifest());
    assertEquals(List.of(), last.basePacks());
  }

  @Test
  void aFileCanBecomeADirectory() {
    BundleManifest base = whole(entry("a", "one"));
    BundleManifest made =
        BundleComposition.of(base, List.of(entry("a/b", "one")), List.of("a")).manifest();
    assertEquals(List.of(file("a/b", "one", 0, 0)), made.files());
  }

  @Test
  void mistakesAreFoundWhereTheyAre() {
    BundleManifest base = whole(entry("a", "one"), entry("d/e", "one"));
    assertEquals(
        List.of("/files/2/path", "/files/0/path", "/files/1/path"),
        pointers(base, List.of(entry("a/b", "1"), entry("d", "2"), entry("d", "3")), List.of()));
    assertEquals(
        List.of("/removed/0", "/removed/1", "/removed/3"),
        pointers(base, List.of(entry("a", "1")), List.of("x", "a", "d/e", "d/e")));
    assertEquals(
        List.of("/files/0/sha256"),
        pointers(base, List.of(new Entry("x", 0, digest("one"), false)), List.of()));
  }

  @Test
  void theDigestIsThatOfTheSortedLines() {
    BundleManifest manifest =
        BundleComposition.of(
                BundleManifest.EMPTY,
                List.of(entry("b", "two"), new Entry("a", 3, digest("one"), true)),
                List.of())
            .manifest();
    String lines = "%s x a\n%s - b\n".formatted(digest("one"), digest("two"));
    assertEquals(digest(lines), HexFormat.of().formatHex(manifest.sha256()));
  }
}
