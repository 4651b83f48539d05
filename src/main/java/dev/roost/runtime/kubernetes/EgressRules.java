package dev.roost.runtime.kubernetes;

import dev.roost.config.Network;
import dev.roost.runtime.Egress;
import dev.roost.runtime.Egress.Destination;
import java.util.List;
import java.util.Optional;

/**
 * Which egress agents may choose. Network policies are additive: an agent's own policy opens
 * destinations even if the chart's policies don't, so it must not exceed what the operator allows.
 *
 * @param enforced whether network policies close all other destinations
 * @param except what no agent may open, including parts of larger blocks
 * @param allowed exceptions from {@code except}
 */
record EgressRules(boolean enforced, List<Network> except, List<Destination> allowed) {

  /** Why the egress is refused, for a person; empty: it is allowed. */
  Optional<String> refusal(Egress egress) {
    if (egress.everything()) {
      return Optional.empty();
    }
    if (!enforced) {
      return Optional.of(
          "This Roost cannot restrict egress without network policies; egress must be \"all\" "
              + "(setting roost.kubernetes.network-policies).");
    }
    return egress.destinations().stream()
        .filter(destination -> !isAllowed(destination))
        .filter(one -> except.stream().anyMatch(network -> network.contains(one.network())))
        .findFirst()
        .map(
            destination ->
                "The operator of this Roost doesn't allow "
                    + destination
                    + " (settings roost.kubernetes.egress-except and egress-allowed).");
  }

  /** The blocks within a destination that stay closed. */
  List<String> closedWithin(Destination destination) {
    return isAllowed(destination)
        ? List.of()
        : except.stream()
            .filter(destination.network()::contains)
            .map(Network::toString)
            .sorted()
            .toList();
  }

  private boolean isAllowed(Destination destination) {
    return allowed.stream().anyMatch(one -> one.covers(destination));
  }
}
