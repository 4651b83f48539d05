import { html } from "lit";
import { plural, words } from "../../core/format";

/** Texts of the page of a build. */
export const text = {
  pageTitle: (state: string) => `build ${words(state)}`,
  title: "Build",
  fixRequirements: "Fix requirements",
  editRequirements: "Edit requirements",
  builtFor: (revision: number, python: string) => `revision ${revision}, Python ${python}`,
  reuses: "reuses an earlier build of the same requirements",
  failureReason: "Failure reason",
  line: (line: number, requirement: unknown) => html`Line ${line}: <code>${requirement}</code>`,
  log: "Log",
  packages: "Packages",
  noPackages: "No packages besides Python.",
  listOfPackages: "List of packages",
  version: "Version",
  size: "Size",
  sha256: (sum: string) => `sha256 ${sum}`,
  details: "Details",
  created: "Created",
  finished: "Finished",
  python: "Python",
  base: "Base",
  build: "Build",
  image: "Image",
  copyImage: "Copy image reference",
  requirements: "Requirements",
  noRequirements: "None.",
  usedBy: (agents: number) => `Used by ${plural(agents, "agent")}`,
  unused: "No agent uses this build.",
};
