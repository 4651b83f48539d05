package dev.roost.api;

import jakarta.enterprise.context.RequestScoped;

/** The sender of the current request. */
@RequestScoped
public class Caller {
  private final Authentication authentication;
  private Identity identity;

  Caller(Authentication authentication) {
    this.authentication = authentication;
  }

  void is(Identity identity) {
    this.identity = identity;
  }

  /** Available only in requests that need a key. */
  Identity identity() {
    return identity;
  }

  /** Available only in requests that need a key. */
  public String keyId() {
    return identity.keyId();
  }

  /** The name of the key, or of the session's key; available only in requests that need a key. */
  public String keyName() {
    return identity.keyName();
  }

  /** Available only in requests that need a key. */
  public Credential credential() {
    return identity.credential();
  }

  /**
   * For a request whose body decides which role it requires.
   *
   * @throws Problem forbidden
   */
  public void require(Role needed) {
    if (!may(needed)) {
      authentication.require(identity, needed);
    }
  }

  public boolean may(Role needed) {
    return (identity == null ? Role.READ : identity.role()).allows(needed);
  }
}
