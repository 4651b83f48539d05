package dev.roost.api;

import jakarta.enterprise.context.RequestScoped;

/** Who sent the request that is being answered. */
@RequestScoped
public class Caller {
  private Identity identity;

  void is(Identity identity) {
    this.identity = identity;
  }

  /** Only of a request that needs a key. */
  Identity identity() {
    return identity;
  }

  /** Only of a request that needs a key. */
  public String keyId() {
    return identity.keyId();
  }

  /** The session by which the request came, which is no secret; null: it came with the key. */
  public String sessionId() {
    return identity.session() == null ? null : identity.session().id();
  }

  public boolean may(Role needed) {
    return (identity == null ? Role.READ : identity.role()).allows(needed);
  }
}
