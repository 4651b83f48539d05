package dev.roost.cluster;

import static java.lang.annotation.ElementType.PARAMETER;
import static java.lang.annotation.RetentionPolicy.RUNTIME;

import jakarta.enterprise.util.AnnotationLiteral;
import jakarta.inject.Qualifier;
import java.lang.annotation.Retention;
import java.lang.annotation.Target;

/**
 * Qualifies events from another replica. Observers without a qualifier receive these events, too.
 */
@Qualifier
@Retention(RUNTIME)
@Target(PARAMETER)
public @interface FromOtherReplica {
  /** Qualifier for firing such an event. */
  final class Literal extends AnnotationLiteral<FromOtherReplica> implements FromOtherReplica {
    static final Literal INSTANCE = new Literal();
  }
}
