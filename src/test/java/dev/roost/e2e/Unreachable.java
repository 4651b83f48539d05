package dev.roost.e2e;

/** A request got no answer. */
final class Unreachable extends RuntimeException {
  private static final long serialVersionUID = 1;

  Unreachable(String request, Exception cause) {
    super(request, cause);
  }
}
