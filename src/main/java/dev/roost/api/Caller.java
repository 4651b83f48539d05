package dev.roost.api;

import jakarta.enterprise.context.RequestScoped;

/** Who sent the request that is being answered. */
@RequestScoped
public class Caller {
  private Role role = Role.READ;

  void is(Role role) {
    this.role = role;
  }

  public boolean may(Role needed) {
    return role.allows(needed);
  }
}
