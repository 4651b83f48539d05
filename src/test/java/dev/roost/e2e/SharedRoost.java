package dev.roost.e2e;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * One Roost for all tests that don't kill it; a test takes it, or a client of it, as a parameter.
 * It ends after the last test.
 */
final class SharedRoost implements BeforeAllCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(SharedRoost.class);

  @Override
  public void beforeAll(ExtensionContext context) {
    roost(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == RoostProcess.class || type == Client.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    RoostProcess roost = roost(context);
    return parameter.getParameter().getType() == RoostProcess.class ? roost : roost.client();
  }

  private static RoostProcess roost(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .computeIfAbsent("roost", key -> RoostProcess.started(), RoostProcess.class);
  }
}
