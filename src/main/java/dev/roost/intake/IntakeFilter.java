package dev.roost.intake;

import dev.roost.api.BodySize;
import dev.roost.api.Takes;
import io.smallrye.mutiny.Uni;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.container.ResourceInfo;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/** Receives the body of a request if the resource method has a parameter of bytes. */
public class IntakeFilter {
  /** After the authentication filters. */
  private static final int LAST = 10_000;

  private final Intake intake;

  IntakeFilter(Intake intake) {
    this.intake = intake;
  }

  @ServerRequestFilter(priority = LAST)
  public Uni<Void> receive(ResourceInfo resource, RoutingContext context) {
    Method method = resource.getResourceMethod();
    if (!Arrays.asList(method.getParameterTypes()).contains(byte[].class)) {
      return Uni.createFrom().voidItem();
    }
    Takes takes = method.getAnnotation(Takes.class);
    return Uni.createFrom()
        .completionStage(intake.receive(context, takes == null ? BodySize.SMALL : takes.value()))
        .replaceWithVoid();
  }
}
