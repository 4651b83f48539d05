package dev.roost.oauth;

/** An access token is not valid. The message is for its sender and has no part of the token. */
public final class TokenRefused extends Exception {
  TokenRefused(String message) {
    super(message);
  }
}
