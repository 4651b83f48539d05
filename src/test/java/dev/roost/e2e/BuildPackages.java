package dev.roost.e2e;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** What the tests of builds install. */
final class BuildPackages {
  /** What {@code many} brings with it: its result is longer than 16 KiB. */
  static final int MANY = 170;

  private BuildPackages() {}

  /**
   * @param gate where {@code slow} waits while it is built: host and port as JSON
   */
  static List<TestPackage> all(String gate) {
    List<TestPackage> all = new ArrayList<>();
    all.add(TestPackage.wheel("sample", List.of()));
    all.add(TestPackage.source("plain", "known = 'plain'", Map.of()));
    all.add(TestPackage.source("late", "known = 'late'", Map.of()));
    all.add(
        TestPackage.source(
            "slow",
            """
            import socket
            socket.create_connection(tuple(%s)).recv(1)
            """
                .formatted(gate),
            Map.of()));
    all.add(curious());
    all.add(
        TestPackage.source(
            "talkative",
            """
            print("the secret is", open(os.environ["NETRC"]).read())
            raise SystemExit(1)
            """,
            Map.of()));
    all.add(forger());
    List<String> parts = IntStream.range(0, MANY).mapToObj("part%03d"::formatted).toList();
    parts.forEach(part -> all.add(TestPackage.wheel(part, List.of())));
    all.add(TestPackage.wheel("many", parts));
    return all;
  }

  /** Looks for credentials while it is built, and knows afterwards where there were some. */
  private static TestPackage curious() {
    return TestPackage.source(
        "curious",
        """
        import snoop
        found = snoop.in_files()[0] + snoop.in_processes()
        # Not the text itself: this becomes part of the layer.
        known = [(path, kind, text[:9]) for path, kind, text in found]
        """,
        Map.of("snoop.py", KubernetesIsolationIT.resource("snoop.py")));
  }

  /** Prints a result in the name of the builder and ends that. */
  private static TestPackage forger() {
    return TestPackage.source(
        "forger",
        """
        import signal, time
        result = b'{"outcome": "succeeded", "image": "example.org/evil@sha256:00", "packages": []}'
        with open("/proc/1/fd/1", "wb", 0) as output:
            output.write(b"\\nI forge a result\\n" + result + b"\\n")
        os.kill(1, signal.SIGTERM)
        time.sleep(60)
        """,
        Map.of());
  }
}
