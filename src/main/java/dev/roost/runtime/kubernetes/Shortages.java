package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Shortage;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses Kubernetes' messages: what a pod or a Job lacks, and whether the end of others could free
 * it. The texts are those of versions 1.27 to 1.34. Pure.
 */
final class Shortages {
  private static final Pattern QUOTA =
      Pattern.compile(
          "exceeded quota: [^,]++, requested: (?<requested>[^ ]++) used: [^ ]++ limited: (?<limited>[^ ]++)");

  private static final Pattern INSUFFICIENT =
      Pattern.compile("Insufficient ([-\\w/]++(?:\\.[-\\w/]++)*+)");

  private Shortages() {}

  static boolean isOfQuota(String message) {
    return message != null && QUOTA.matcher(message).find();
  }

  /** Empty: no quota refused the object, or the object exceeds the whole quota. */
  static Optional<Shortage> ofQuota(String message) {
    Matcher refusal = QUOTA.matcher(message == null ? "" : message);
    if (!refusal.find()) {
      return Optional.empty();
    }
    Map<String, BigDecimal> requested = amounts(refusal.group("requested"));
    Map<String, BigDecimal> limited = amounts(refusal.group("limited"));
    boolean fits =
        requested.entrySet().stream()
            .allMatch(
                one ->
                    isPause(one.getKey(), limited.get(one.getKey()))
                        || one.getValue()
                                .compareTo(limited.getOrDefault(one.getKey(), one.getValue()))
                            <= 0);
    return fits ? Optional.of(new Shortage(true, requested.keySet())) : Optional.empty();
  }

  /** A limit of zero objects is a temporary pause by an administrator. */
  private static boolean isPause(String resource, BigDecimal limit) {
    boolean counts = resource.equals("pods") || resource.startsWith("count/");
    return counts && limit != null && limit.signum() == 0;
  }

  private static Map<String, BigDecimal> amounts(String text) {
    Map<String, BigDecimal> amounts = new HashMap<>();
    for (String one : text.split(",")) {
      int sign = one.lastIndexOf('=');
      if (sign > 0) {
        try {
          Quantity amount = Quantity.parse(one.substring(sign + 1));
          amounts.put(one.substring(0, sign), amount.getNumericalAmount());
        } catch (IllegalArgumentException e) {
          // Not a quantity, so the amount can't be compared.
        }
      }
    }
    return amounts;
  }

  /**
   * Empty: no node could take the pod even if other pods ended, for example because all are too
   * small or none matches. The scheduler reports this when it considers preemption.
   *
   * @param message of the condition PodScheduled
   */
  static Optional<Shortage> ofScheduler(String message) {
    int preemption = message.indexOf("preemption: ");
    String nodes = preemption < 0 ? message : message.substring(0, preemption);
    Set<String> resources = new HashSet<>();
    Matcher insufficient = INSUFFICIENT.matcher(nodes);
    while (insufficient.find()) {
      resources.add(insufficient.group(1));
    }
    if (nodes.contains("Too many pods")) {
      resources.add("pods");
    }
    String helps = preemption < 0 ? "" : message.substring(preemption);
    boolean futile =
        helps.contains("Preemption is not helpful") && !helps.contains("No preemption victims");
    return resources.isEmpty() || futile
        ? Optional.empty()
        : Optional.of(new Shortage(false, resources));
  }
}
