package dev.roost.e2e;

/** One part of an executor, or a builder: a process of this machine or a container of a pod. */
interface Worker {
  /** Ends it without a chance to say anything. */
  void kill();

  boolean isAlive();

  /** The most memory that its first process had, MiB; 0 when it is gone. */
  long peakMemoryMib();
}
