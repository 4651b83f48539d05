package dev.roost.build;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.roost.TestRuntime;
import java.util.List;
import org.junit.jupiter.api.Test;

class BuildInputsTest {
  private static final List<String> REQUIREMENTS = List.of("a==1", "b==2");

  private final TestRuntime accepting = new OfBase("new");
  private final TestRuntime building = new OfBase("old");

  @Test
  void theBaseIsThatOfTheReplicaThatAcceptedTheAgent() {
    BuildInputs accepted = BuildInputs.now(accepting, "3.13", REQUIREMENTS);
    assertEquals(accepted, BuildInputs.here(building, job(accepted)));
    assertEquals(accepted, BuildInputs.of(job(accepted)));
  }

  @Test
  void whatCanNotBeBuiltHereIsNamedByWhatIsBuilt() {
    BuildInputs accepted = BuildInputs.now(accepting, "3.13", REQUIREMENTS);
    TestRuntime without =
        new OfBase("old") {
          @Override
          public boolean buildsOn(String pythonVersion, String base) {
            return base.equals("old");
          }
        };
    BuildInputs built = BuildInputs.here(without, job(accepted));
    assertEquals(BuildInputs.now(without, "3.13", REQUIREMENTS), built);
    assertEquals("old", built.base());
    assertNotEquals(accepted.imageKey(), built.imageKey());
  }

  /** What an earlier version has written down, or a replica with another SDK. */
  @Test
  void aKeyThatDoesNotFitIsReplaced() {
    BuilderJob job = job(new BuildInputs(null, "3.13", REQUIREMENTS, "of before"));
    BuildInputs built = BuildInputs.here(building, job);
    assertEquals(BuildInputs.now(building, "3.13", REQUIREMENTS), built);
    job.base = "new";
    assertEquals(BuildInputs.now(accepting, "3.13", REQUIREMENTS), BuildInputs.here(building, job));
  }

  private static BuilderJob job(BuildInputs inputs) {
    BuilderJob job = new BuilderJob();
    job.base = inputs.base();
    job.pythonVersion = inputs.pythonVersion();
    job.requirements = String.join("\n", inputs.requirements());
    job.imageKey = inputs.imageKey();
    return job;
  }

  private static class OfBase extends TestRuntime {
    private final String base;

    OfBase(String base) {
      this.base = base;
    }

    @Override
    public String baseIdentity(String pythonVersion) {
      return base;
    }
  }
}
