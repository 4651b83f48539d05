package dev.roost.builds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.TestRuntime;
import dev.roost.runtime.Requirements;
import dev.roost.runtime.SdkWheel;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BasesTest {
  private static final Requirements REQUIREMENTS = new Requirements(List.of("a==1", "b==2"));
  private static final String ONE = "sha256:" + "1".repeat(64);
  private static final String TWO = "sha256:" + "2".repeat(64);

  private static final Advisories NONE = new Advisories(Optional.empty(), new ObjectMapper());

  private final Bases accepting = bases(new OfBase("python:new"), null);
  private final Bases building = bases(new OfBase("python:old"), null);

  @Test
  void theBaseIsThatOfTheReplicaThatAcceptedTheAgent() {
    BuildInputs accepted = accepting.inputs("3.13", REQUIREMENTS, null);
    assertEquals(accepted, building.inputs(job(accepted)));
    assertEquals(accepted, BuildInputs.of(job(accepted)));
  }

  @Test
  void whatCanNotBeBuiltHereIsNamedByWhatIsBuilt() {
    BuildInputs accepted = accepting.inputs("3.13", REQUIREMENTS, null);
    TestRuntime without =
        new OfBase("python:old") {
          @Override
          public boolean buildsOn(String pythonVersion, String base) {
            return base.equals("python:old");
          }
        };
    BuildInputs built = bases(without, null).inputs(job(accepted));
    assertEquals(building.inputs("3.13", REQUIREMENTS, null), built);
    assertEquals("python:old", built.base());
    assertNotEquals(accepted.imageKey(), built.imageKey());
  }

  /** What an earlier version has written down, or a replica with another SDK. */
  @Test
  void aKeyThatDoesNotFitIsReplaced() {
    BuilderJob job = job(new BuildInputs(null, "3.13", REQUIREMENTS, null, "of before"));
    assertEquals(building.inputs("3.13", REQUIREMENTS, null), building.inputs(job));
    job.base = "python:new";
    assertEquals(accepting.inputs("3.13", REQUIREMENTS, null), building.inputs(job));
  }

  @Test
  void theDigestOfTheTagCountsOnceItIsKnown() {
    assertEquals("python:new", accepting.current("3.13"));
    Bases looked = bases(new OfBase("python:new"), ONE);
    assertEquals("python:new@" + ONE, looked.current("3.13"));
    assertNotEquals(
        looked.inputs("3.13", REQUIREMENTS, null).imageKey(),
        bases(new OfBase("python:new"), TWO).inputs("3.13", REQUIREMENTS, null).imageKey());
    // It is that of a reference which the settings don't name any more.
    assertEquals(
        "python:3.13",
        new Bases(new OfBase("python:3.13"), null, NONE, Clock.systemUTC()) {
          @Override
          Map<String, Image> read() {
            return Map.of("3.13", image("python:new", ONE));
          }
        }.current("3.13"));
  }

  @Test
  void anotherNonceIsAnotherBuildOfTheSame() {
    assertNotEquals(
        accepting.inputs("3.13", REQUIREMENTS, null).imageKey(),
        accepting.inputs("3.13", REQUIREMENTS, "n").imageKey());
    BuildInputs again = accepting.inputs("3.13", REQUIREMENTS, "n");
    assertEquals(again, building.inputs(job(again)));
  }

  @Test
  void aBuildIsOutdatedWhenItsBaseIs() {
    BuilderJob job = job(accepting.inputs("3.13", REQUIREMENTS, null));
    assertEquals(Optional.empty(), accepting.outdated(job, "python:new@" + ONE));
    assertEquals(
        Optional.of(
            new Outdated(
                List.of(Outdated.Reason.BASE), "python:new@" + ONE, "python:old", List.of())),
        building.outdated(job, "python:new@" + ONE));

    Bases looked = bases(new OfBase("python:new"), ONE);
    assertEquals(Optional.empty(), looked.outdated(job, "python:new@" + ONE));
    assertEquals(Optional.empty(), looked.outdated(job, "mirror/python:new@" + ONE));
    assertEquals(
        List.of(Outdated.Reason.BASE),
        bases(new OfBase("python:new"), TWO)
            .outdated(job, "python:new@" + ONE)
            .orElseThrow()
            .reasons());
    // Which digest it was is not known, so it may be an older one.
    assertEquals(List.of(Outdated.Reason.BASE), looked.outdated(job, null).orElseThrow().reasons());
  }

  @Test
  void aBuildOfAnEarlierVersionOfRoostIsOutdatedUnlessItsKeyIsTheCurrentOne() {
    BuilderJob job = job(accepting.inputs("3.13", REQUIREMENTS, null));
    job.base = null;
    assertEquals(Optional.empty(), accepting.outdated(job, null));
    assertEquals(
        List.of(Outdated.Reason.BASE), building.outdated(job, null).orElseThrow().reasons());
  }

  @Test
  void anSdkOfAnotherVersionIsAReason() {
    BuilderJob job = job(accepting.inputs("3.13", new Requirements(List.of("roost")), null));
    assertEquals(Optional.empty(), accepting.outdated(job, "python:new"));
    SdkWheel own = SdkWheel.own();
    Requirements before =
        new SdkWheel(own.path(), own.version(), "0".repeat(64))
            .resolved(new Requirements(List.of("roost")));
    job.imageKey =
        ImageKey.of("python:new", new TestRuntime().describe().platform(), "3.13", before, null);
    assertEquals(
        List.of(Outdated.Reason.SDK),
        accepting.outdated(job, "python:new").orElseThrow().reasons());
  }

  @Test
  void nothingNewerCanBeCreatedForAPythonThatIsNotOffered() {
    BuilderJob job = job(accepting.inputs("3.13", REQUIREMENTS, null));
    job.pythonVersion = "2.7";
    assertEquals(Optional.empty(), building.outdated(job, null));
  }

  private static BuilderJob job(BuildInputs inputs) {
    BuilderJob job = new BuilderJob();
    job.base = inputs.base();
    job.nonce = inputs.nonce();
    job.pythonVersion = inputs.pythonVersion();
    job.requirements = inputs.requirements();
    job.imageKey = inputs.imageKey();
    return job;
  }

  /**
   * @param digest that was looked up, or null
   */
  private static Bases bases(TestRuntime runtime, String digest) {
    return new Bases(runtime, null, NONE, Clock.systemUTC()) {
      @Override
      Map<String, Image> read() {
        return digest == null
            ? Map.of()
            : Map.of("3.13", image(runtime.baseIdentity("3.13"), digest));
      }
    };
  }

  private static Bases.Image image(String reference, String digest) {
    return new Bases.Image("3.13", reference, digest, Instant.EPOCH, null);
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
