import { duration } from "../../core/format";

/** Texts about the progress of builds. */
export const text = {
  build: "Build",
  queued: "Build queued",
  installing: "Installing requirements",
  viewBuild: "View build",
  log: "Build log",
  failed: "The requirements could not be installed",
  viewBuildAndLog: "View build and log",
  reused: "Reused an earlier build",
  builtIn: (seconds: number) => `Built in ${duration(seconds)}`,
};
