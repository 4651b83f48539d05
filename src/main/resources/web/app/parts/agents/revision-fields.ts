import type { Agent } from "../../core/types";
import { CODE_FIELDS, CODE_NAMES, type Code } from "./agent-edits";
import type { Confinement } from "./confinement";

/** What a revision is about: the code, and how it runs. */
export type RevisionContent = Code & Confinement & Pick<Agent, "preload">;

const FIELDS = [...CODE_FIELDS, "profile", "egress", "preload"] as const;

export const REVISION_NAMES: Record<keyof RevisionContent, string> = {
  ...CODE_NAMES,
  profile: "Profile",
  egress: "Egress",
  preload: "Preloading",
};

/** The fields in which two differ. */
export const revisionDifferences = (
  one: RevisionContent,
  other: RevisionContent,
): (keyof RevisionContent)[] => FIELDS.filter((field) => one[field] !== other[field]);

/** "script, Python version". */
export const inWords = (fields: (keyof RevisionContent)[]): string =>
  fields
    .map((field) => (field === "python_version" ? "Python version" : REVISION_NAMES[field].toLowerCase()))
    .join(", ");
