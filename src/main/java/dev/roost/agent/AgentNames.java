package dev.roost.agent;

import java.util.random.RandomGenerator;

/** Names for agents that were given none: readable, and unlikely to be taken. */
final class AgentNames {
  private static final String[] QUALITIES = {
    "amber", "bold", "brisk", "calm", "clear", "cosy", "deft", "early", "fair", "gentle", "keen", "lively", "lucky",
    "mellow", "merry", "neat", "nimble", "proud", "quick", "quiet", "ruby", "sleek", "snug", "spry", "steady", "sunny",
    "swift", "tidy", "warm", "wise"
  };
  private static final String[] BIRDS = {
    "avocet", "bunting", "crane", "curlew", "dipper", "dove", "dunnock", "egret", "falcon", "finch", "grouse", "heron",
    "hoopoe", "jay", "kestrel", "kite", "lark", "linnet", "martin", "merlin", "oriole", "osprey", "owl", "plover",
    "robin", "siskin", "starling", "swallow", "tern", "wren"
  };

  private AgentNames() {}

  static String next(RandomGenerator random) {
    return QUALITIES[random.nextInt(QUALITIES.length)]
        + "-"
        + BIRDS[random.nextInt(BIRDS.length)]
        + "-"
        + (100 + random.nextInt(900));
  }
}
