package dev.roost.api;

import jakarta.enterprise.context.RequestScoped;

/** The sender of the current request. */
@RequestScoped
public class Caller {
  private Identity identity;

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

  /**
   * The identifier of the request's session, which is not a secret; null: the request was sent with
   * a key.
   */
  public String sessionId() {
    return identity.session() == null ? null : identity.session().id();
  }

  /**
   * For a request whose body decides which role it requires.
   *
   * @throws Problem forbidden
   */
  public void require(Role needed) {
    require(identity, needed);
  }

  static void require(Identity identity, Role needed) {
    if (!(identity == null ? Role.READ : identity.role()).allows(needed)) {
      throw Problem.of(
          ErrorCode.FORBIDDEN,
          "This API key has the role \"%s\"; the request requires \"%s\"."
              .formatted(identity.role().code(), needed.code()));
    }
  }

  public boolean may(Role needed) {
    return (identity == null ? Role.READ : identity.role()).allows(needed);
  }
}
