package dev.roost.oauth;

/** The keys of the issuer are not known yet, so that no token can be verified. */
public final class KeysMissing extends Exception {
  KeysMissing() {
    super(
        "The keys of the identity provider have not been received yet. Retry the request; if this "
            + "lasts, the log of Roost says why.");
  }
}
