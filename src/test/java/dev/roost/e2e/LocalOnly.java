package dev.roost.e2e;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * What the suite leaves out on other runtimes than the local one, since it can't be there or is the
 * same; its report says why.
 */
@Tag("e2e")
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(LocalOnly.Condition.class)
@interface LocalOnly {
  /** Why. */
  String value();

  /** Reads it. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return AnnotationSupport.findAnnotation(context.getElement(), LocalOnly.class)
          .filter(reason -> TestCluster.isChosen())
          .map(
              reason -> ConditionEvaluationResult.disabled("local runtime only: " + reason.value()))
          .orElseGet(() -> ConditionEvaluationResult.enabled("for this runtime"));
    }
  }
}
