package dev.roost.start;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The embedded PostgreSQL's settings: safe against power failure, small, few log messages. */
final class PostgresSettings {
  private static final List<String> SETTINGS =
      List.of(
          "listen_addresses=127.0.0.1",
          "unix_socket_directories=",
          "max_connections=50",
          // Small: it shares the machine with the scripts.
          "shared_buffers=64MB",
          "huge_pages=off",
          // In the data directory: confined scripts may write to /dev/shm.
          "dynamic_shared_memory_type=mmap",
          "io_method=sync", // The default runs three more processes.
          "max_worker_processes=2",
          "max_parallel_workers_per_gather=0",
          "jit=off",
          // There are no replicas, so write only what recovery needs.
          "wal_level=minimal",
          "max_wal_senders=0",
          "max_wal_size=256MB",
          "synchronous_commit=on",
          "timezone=UTC",
          "log_timezone=UTC",
          "log_line_prefix=%m [%p] ",
          "log_min_messages=warning",
          "log_min_error_statement=panic", // Statements may contain users' data.
          "log_checkpoints=off");

  private PostgresSettings() {}

  static List<String> command(PostgresPrograms programs, Path database, int port) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(programs.server().toString(), "-D", database.toString()));
    command.addAll(List.of("-c", "port=" + port));
    SETTINGS.forEach(setting -> command.addAll(List.of("-c", setting)));
    return command;
  }
}
