package dev.roost.runtime.local;

/** Roost can't start for a reason that a person can fix; the message says how. */
public final class StartFailed extends Exception {
  private static final long serialVersionUID = 1L;

  public StartFailed(String message) {
    super(message);
  }

  public StartFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
