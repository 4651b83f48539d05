package dev.roost.cluster;

import static java.lang.annotation.ElementType.PARAMETER;
import static java.lang.annotation.RetentionPolicy.RUNTIME;

import jakarta.enterprise.util.AnnotationLiteral;
import jakarta.inject.Qualifier;
import java.lang.annotation.Retention;
import java.lang.annotation.Target;

/** Of an event that another replica told; observers that don't ask for it get those too. */
@Qualifier
@Retention(RUNTIME)
@Target(PARAMETER)
public @interface FromOtherReplica {
  /** To fire such an event. */
  final class Literal extends AnnotationLiteral<FromOtherReplica> implements FromOtherReplica {
    static final Literal INSTANCE = new Literal();
  }
}
