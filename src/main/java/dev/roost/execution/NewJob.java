package dev.roost.execution;

import dev.roost.api.Ids;

/**
 * The identifiers of a job that is not created yet.
 *
 * @param executionId of its first Execution, if that begins together with the job
 */
record NewJob(String id, String executionId) {
  static NewJob next() {
    return new NewJob(Ids.next("xjob"), Ids.next("exec"));
  }
}
