package dev.roost.api;

import java.security.SecureRandom;
import java.util.Optional;

/** Readable names for resources that the user does not name. */
public final class ReadableNames {
  private static final SecureRandom RANDOM = new SecureRandom();

  private static final String[] QUALITIES =
      ("amber ample azure brave bright brisk calm clear clever cosy crisp curious dapper deft eager"
              + " early fair fleet fond frank fresh gentle glad golden grand green happy hardy"
              + " honest humble jolly keen kind lively loyal lucid lucky mellow merry mild modest"
              + " neat nimble noble patient placid plucky polite prompt proud quick quiet rapid"
              + " ready royal rustic sage silver snug spry steady sturdy sunny swift tidy vivid warm"
              + " wise witty young")
          .split(" ");

  private static final String[] BIRDS =
      ("avocet bittern bulbul bunting chough condor cormorant crane crow curlew dipper dove dunlin"
              + " eagle egret eider falcon finch flicker gannet godwit goose grebe grouse gull"
              + " harrier hawk heron hoopoe ibis jackdaw jay kestrel kite kiwi lapwing lark linnet"
              + " magpie martin merlin moorhen nuthatch oriole osprey ouzel owl partridge pelican"
              + " petrel pigeon pipit plover puffin quail raven redstart robin rook sandpiper shrike"
              + " siskin snipe sparrow starling stork swallow swan swift tern thrush tit wagtail"
              + " warbler waxwing wren")
          .split(" ");

  private ReadableNames() {}

  /** The mistake in a name from a user; empty for a valid name. */
  public static Optional<String> mistake(String name) {
    if (name.isBlank() || name.length() > 100 || !name.equals(name.strip())) {
      return Optional.of("name must have 1 to 100 characters, without leading or trailing spaces.");
    }
    return name.chars().anyMatch(Character::isISOControl)
        ? Optional.of("name must not contain control characters.")
        : Optional.empty();
  }

  /**
   * A name such as "quiet-heron-4711", one of about fifty million. The caller must check that the
   * name is unique.
   */
  public static String readable() {
    return QUALITIES[RANDOM.nextInt(QUALITIES.length)]
        + '-'
        + BIRDS[RANDOM.nextInt(BIRDS.length)]
        + '-'
        + (1_000 + RANDOM.nextInt(9_000));
  }
}
