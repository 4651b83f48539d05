package dev.roost.execution;

import dev.roost.api.Ids;

/**
 * The identifiers of a job that is not created yet.
 *
 * @param executionId of its first Execution, if that begins together with the job
 * @param parentId the job whose script calls this one; null if there is none
 * @param depth how many jobs called each other before it
 */
record NewJob(String id, String executionId, String parentId, int depth) {
  static NewJob next() {
    return calledBy(null, 0);
  }

  static NewJob calledBy(String parentId, int depth) {
    return new NewJob(Ids.next("xjob"), Ids.next("exec"), parentId, depth);
  }
}
