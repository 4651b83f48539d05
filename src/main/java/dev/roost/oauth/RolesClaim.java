package dev.roost.oauth;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jose4j.jwt.JwtClaims;

/**
 * The claim that has the roles of a token.
 *
 * @param name of a claim (which may contain dots), or names with dots between them that lead into
 *     objects
 */
record RolesClaim(String name) {
  /** The values; empty without the claim, or if it is neither text nor a list. */
  Set<String> of(JwtClaims claims) {
    Object value = claims.getClaimValue(name);
    return values(value == null ? at(claims.getClaimsMap()) : value);
  }

  private Object at(Object value) {
    for (String step : name.split("\\.")) {
      value = value instanceof Map<?, ?> object ? object.get(step) : null;
    }
    return value;
  }

  private static Set<String> values(Object value) {
    Set<String> values = new LinkedHashSet<>();
    if (value instanceof String text) {
      values.addAll(List.of(text.split(" ")));
    } else if (value instanceof Collection<?> list) {
      list.stream().filter(String.class::isInstance).map(String.class::cast).forEach(values::add);
    }
    return values;
  }
}
