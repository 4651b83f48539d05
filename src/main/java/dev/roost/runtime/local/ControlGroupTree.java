package dev.roost.runtime.local;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * This process's place in the kernel's control group hierarchy with the pids controller.
 *
 * @param directory this process's own group, in which child groups can be created
 * @param unified whether this is version 2, where a group with processes can't limit child groups
 */
record ControlGroupTree(Path directory, boolean unified) {
  private static final String CONTROLLER = "pids";

  /**
   * Finds the hierarchy of version 1 with the controller, or else that of version 2.
   *
   * @param mounts {@code /proc/self/mountinfo}
   * @param own {@code /proc/self/cgroup}
   * @throws IOException when neither is visible from here; the message says so
   */
  static ControlGroupTree of(String mounts, String own) throws IOException {
    Optional<String> first = group(own, CONTROLLER);
    Optional<ControlGroupTree> found =
        first.isPresent()
            ? directory(mounts, "cgroup", first.get())
                .map(path -> new ControlGroupTree(path, false))
            : group(own, "")
                .flatMap(group -> directory(mounts, "cgroup2", group))
                .map(path -> new ControlGroupTree(path, true));
    return found.orElseThrow(() -> new IOException("no control groups are mounted"));
  }

  /** A line is {@code 8:pids:/path}, or {@code 0::/path} for version 2. */
  private static Optional<String> group(String own, String controller) {
    return own.lines()
        .map(line -> line.split(":", 3))
        .filter(parts -> parts.length == 3)
        .filter(parts -> List.of(parts[1].split(",")).contains(controller))
        .map(parts -> parts[2])
        .findFirst();
  }

  /**
   * A line's fields: id, parent, device, root, mount point, options, …, "-", type, source, options.
   */
  private static Optional<Path> directory(String mounts, String type, String group) {
    return mounts
        .lines()
        .map(line -> Arrays.asList(line.split(" ")))
        .filter(fields -> isOf(fields, type))
        .filter(fields -> Path.of(group).startsWith(fields.get(3)))
        .map(
            fields ->
                Path.of(fields.get(4)).resolve(Path.of(fields.get(3)).relativize(Path.of(group))))
        .findFirst();
  }

  private static boolean isOf(List<String> fields, String type) {
    int dash = fields.indexOf("-");
    return dash > 5
        && fields.size() > dash + 3
        && fields.get(dash + 1).equals(type)
        && (type.equals("cgroup2")
            || List.of(fields.get(dash + 3).split(",")).contains(CONTROLLER));
  }
}
