package dev.roost.history;

/**
 * Why a history can't have come from a strictly serializable store.
 *
 * @param name the usual one, for example "lost update"
 * @param evidence the operations, one a line
 */
public record Anomaly(String name, String evidence) {
  @Override
  public String toString() {
    return name + ":\n" + evidence.indent(2);
  }
}
