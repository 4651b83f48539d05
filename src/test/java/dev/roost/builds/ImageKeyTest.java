package dev.roost.builds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.TestRuntime;
import dev.roost.runtime.Requirements;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.SdkWheel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ImageKeyTest {
  private static final Requirements REQUIREMENTS = requirements("a==1", "b==2");

  @Test
  void theSameInputsHaveTheSameKeyOfSixtyFourHexadecimalDigits() {
    String key = ImageKey.of("sha256:base", "linux/amd64", "3.13", REQUIREMENTS, null);
    assertTrue(key.matches("[0-9a-f]{64}"), key);
    assertEquals(
        key, ImageKey.of("sha256:base", "linux/amd64", "3.13", requirements("a==1", "b==2"), null));
  }

  /**
   * A key must not change by accident: every Build would be made anew. These are the SHA-256 of
   * {@code roost-build-1}, the four inputs and a NUL after each.
   */
  @Test
  void theKeyStaysFromReleaseToRelease() {
    assertEquals(
        "d68f07ee8f862793ca9c98e56d44d4ef7d2129082902ea5d0e516a01f12c9ef6",
        ImageKey.of("sha256:base", "linux/amd64", "3.13", REQUIREMENTS, null));
    assertEquals(
        "301c6383638da36927950566490e2319c9d3c61180a435cc996c4a8a6f272ff2",
        ImageKey.of("sha256:base", "linux/amd64", "3.13", requirements(), null));
  }

  @Test
  void everyInputCounts() {
    Set<String> keys = new HashSet<>();
    keys.add(ImageKey.of("sha256:base", "linux/amd64", "3.13", REQUIREMENTS, null));
    keys.add(ImageKey.of("sha256:other", "linux/amd64", "3.13", REQUIREMENTS, null));
    keys.add(ImageKey.of("sha256:base", "linux/arm64", "3.13", REQUIREMENTS, null));
    keys.add(ImageKey.of("sha256:base", "linux/amd64", "3.12", REQUIREMENTS, null));
    keys.add(ImageKey.of("sha256:base", "linux/amd64", "3.13", requirements("a==1", "b==3"), null));
    keys.add(ImageKey.of("sha256:base", "linux/amd64", "3.13", requirements("a==1"), null));
    keys.add(ImageKey.of("sha256:base", "linux/amd64", "3.13", requirements(), null));
    assertEquals(7, keys.size());
  }

  private static String key(Runtime runtime, String sdk) {
    String base = runtime.baseIdentity("3.13");
    return BuildInputs.on(base, runtime, "3.13", requirements("a==1", sdk), null).imageKey();
  }

  @Test
  void theSdkCountsByItsHashHoweverItIsRequired() {
    Runtime runtime = new TestRuntime();
    SdkWheel own = SdkWheel.own();
    String key = key(runtime, "roost");
    assertEquals(
        ImageKey.of(
            runtime.baseIdentity("3.13"),
            runtime.describe().platform(),
            "3.13",
            requirements("a==1", "roost @ sha256:" + own.sha256()),
            null),
        key);
    assertEquals(key, key(runtime, "roost==" + own.version()));
    SdkWheel later = new SdkWheel(own.path(), own.version(), "0".repeat(64));
    Requirements requirements =
        requirements("roost[cli]==1 ; os_name=='nt'", "roost-x==1", "xroost==2");
    assertEquals(
        requirements(
            "roost[cli] @ sha256:" + "0".repeat(64) + " ; os_name=='nt'",
            "roost-x==1",
            "xroost==2"),
        later.resolved(requirements));
  }

  @Test
  void whatBelongsToOnePartIsNotTakenForAnother() {
    Set<String> keys = new HashSet<>();
    keys.add(ImageKey.of("ab", "c", "3", requirements(), null));
    keys.add(ImageKey.of("a", "bc", "3", requirements(), null));
    keys.add(ImageKey.of("a", "b", "c3", requirements(), null));
    keys.add(ImageKey.of("a", "b", "c", requirements("3"), null));
    keys.add(ImageKey.of("a", "b", "c", requirements("3", ""), null));
    assertEquals(5, keys.size());
  }

  private static Requirements requirements(String... lines) {
    return new Requirements(List.of(lines));
  }
}
