"""What crosses between the processes of an executor, as docs/executor-link.md describes it."""
