package dev.roost.e2e;

import java.util.Set;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * One Roost for all tests that don't kill it; a test takes it, its workers, or a client of it as a
 * parameter. It ends after the last test.
 */
final class SharedRoost implements BeforeAllCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(SharedRoost.class);
  private static final Set<Class<?>> TYPES =
      Set.of(RoostProcess.class, Workers.class, Client.class);

  @Override
  public void beforeAll(ExtensionContext context) {
    roost(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return TYPES.contains(type);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    RoostProcess roost = roost(context);
    if (type == Workers.class) {
      return roost.workers();
    }
    return type == Client.class ? roost.client() : roost;
  }

  private static RoostProcess roost(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .computeIfAbsent("roost", key -> RoostProcess.started(), RoostProcess.class);
  }
}
