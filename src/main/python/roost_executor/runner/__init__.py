"""The process that forks for each execution, and follows it to its end."""
