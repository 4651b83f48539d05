package dev.roost.swarmnode;

import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The two forms of an identifier: a UUID for clients, and Roost's own, with its type. Both have the
 * same 128 bits. An address is Roost's without the type.
 */
enum CompatIds {
  AGENT("agent", "agent"),
  STORE("store", "store"),
  BUILDER_JOB("bjob", "agent builder job"),
  BUILD("bjob", "build"),
  JOB("xjob", "agent executor job"),
  EXECUTION("xjob", "execution"),
  CRON_JOB("sched", "agent executor cron job"),
  ASSET("asset", "asset"),
  STORAGE_REQUEST("upload", "asset storage request");

  private static final Pattern UUID_TEXT =
      Pattern.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  private static final Pattern ADDRESS = Pattern.compile("[0-9a-z]{26}");

  private final String prefix;
  private final String noun;

  CompatIds(String prefix, String noun) {
    this.prefix = prefix;
    this.noun = noun;
  }

  String prefix() {
    return prefix;
  }

  /**
   * @param id Roost's, or null
   */
  String uuid(String id) {
    return id == null
        ? null
        : Ids.uuid(prefix, id)
            .map(UUID::toString)
            .orElseThrow(() -> new IllegalStateException("not an identifier: " + id));
  }

  /**
   * Roost's identifier.
   *
   * @param uuid from a client
   * @throws Problem not_found: it has another form
   */
  String id(String uuid) {
    String lower = uuid.toLowerCase(Locale.ROOT);
    if (!UUID_TEXT.matcher(lower).matches()) {
      throw absent(uuid);
    }
    return Ids.of(prefix, UUID.fromString(lower));
  }

  /** Like {@link #id}, for an optional filter; null for null. */
  String filter(String uuid) {
    return uuid == null ? null : id(uuid);
  }

  String address(String id) {
    return id.substring(prefix.length() + 1);
  }

  /** Roost's identifier; empty for what can't be an address. */
  Optional<String> ofAddress(String address) {
    return Optional.of(address)
        .filter(text -> ADDRESS.matcher(text).matches())
        .map(text -> prefix + '_' + text)
        .filter(id -> Ids.uuid(prefix, id).isPresent());
  }

  Problem absent(String given) {
    return Problem.of(ErrorCode.NOT_FOUND, "There is no " + noun + " " + Text.quote(given) + ".");
  }
}
