package dev.roost;

import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Alternative;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/** A runtime on which nothing runs, for tests of what stands above it. */
@Alternative
@Priority(1)
@ApplicationScoped
public class TestRuntime implements Runtime {
  @Override
  public Description describe() {
    return new Description("local", List.of("3.11", "3.13"), "3.13", "linux/amd64", 4, List.of());
  }

  @Override
  public String baseIdentity(String pythonVersion) {
    return "test-" + pythonVersion;
  }

  @Override
  public boolean buildsOn(String pythonVersion, String base) {
    return true;
  }

  @Override
  public void startBuild(BuildSpec order) {}

  @Override
  public Observation observeBuild(String builderJobId) {
    return new Observation.Absent();
  }

  @Override
  public BuildOutput buildOutput(String builderJobId, long position) {
    return new BuildOutput(List.of(), position);
  }

  @Override
  public void deleteBuilderJob(String builderJobId) {}

  @Override
  public boolean hasBuild(String imageKey) {
    return false;
  }

  @Override
  public Removal deleteBuild(String imageKey, String image) {
    return Removal.DONE;
  }

  @Override
  public void startExecutor(ExecutorSpec order) {}

  @Override
  public boolean stopExecutor(String executorId) {
    return true;
  }

  @Override
  public Observation observeExecutor(String executorId) {
    return new Observation.Absent();
  }

  @Override
  public Set<String> executors() {
    return Set.of();
  }

  @Override
  public ExecutorOutput executorOutput(String executorId) throws IOException {
    throw new IOException("there is no output");
  }

  @Override
  public void deleteExecutor(String executorId) {}

  @Override
  public Set<String> builderJobs() {
    return Set.of();
  }
}
