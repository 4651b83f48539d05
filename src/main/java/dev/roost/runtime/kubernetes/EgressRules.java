package dev.roost.runtime.kubernetes;

import dev.roost.config.Network;
import dev.roost.runtime.Egress;
import dev.roost.runtime.Egress.Destination;
import java.util.List;
import java.util.Optional;

/**
 * What agents may open by their egress. Network policies add up, so what an agent's own policy
 * opens is open whatever the chart's says: it must be no more than the operator allows.
 *
 * @param enforced whether there are network policies that close what isn't opened
 * @param except what no agent may open, parts of larger blocks included
 * @param allowed what an agent may open all the same
 */
record EgressRules(boolean enforced, List<Network> except, List<Destination> allowed) {

  /** Why not, for a person; empty: it may be. */
  Optional<String> refusal(Egress egress) {
    if (egress.everything()) {
      return Optional.empty();
    }
    if (!enforced) {
      return Optional.of(
          "This Roost has no network policies that could limit what scripts reach; egress can only"
              + " be \"all\" (setting roost.kubernetes.network-policies).");
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
