package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.api.Ids;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ObjectNamesTest {
  @Test
  void aNameIsTheIdentifiersUniquePart() {
    assertEquals("executor-01abc", ObjectNames.executor("executor_01abc"));
    assertEquals("builder-01abc", ObjectNames.builder("bjob_01abc"));
  }

  /** A pod's name is its Job's with six more characters, and is a label of 63 at most. */
  @Test
  void everyIdentifierMakesAValidName() {
    for (String name :
        new String[] {
          ObjectNames.executor(Ids.next("executor")), ObjectNames.builder(Ids.next("bjob"))
        }) {
      assertTrue(name.matches("[a-z0-9]([-a-z0-9]*[a-z0-9])?"), name);
      assertTrue(name.length() + 6 <= 63, name);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "executor", "executor_", "executor_A", "executor_a/b", "executor_..", "x_a b"})
  void whatIsNoIdentifierMakesNoName(String id) {
    assertThrows(IllegalArgumentException.class, () -> ObjectNames.executor(id));
    assertThrows(IllegalArgumentException.class, () -> ObjectNames.builder(id));
  }
}
