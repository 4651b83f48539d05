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

/** What only the suite's run on Kubernetes has: it is about pods, or about a cluster's parts. */
@Tag("e2e")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith({KubernetesOnly.Condition.class, TestCluster.Condition.class, Gate.Resolver.class})
@interface KubernetesOnly {
  /** Looks for the runtime of this run. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return TestCluster.isChosen()
          ? ConditionEvaluationResult.enabled("for this runtime")
          : ConditionEvaluationResult.disabled("Kubernetes only");
    }
  }
}
