import { toJson } from "../../core/api";
import type { Agent } from "../../core/types";
import { text } from "../../text/parts/agents";
import { CODE_FIELDS, type Code } from "./agent-edits";
import type { Confinement } from "./confinement";

/** What a revision is about: the code, and how it runs. */
export type RevisionContent = Code &
  Confinement &
  Pick<Agent, "bundle_id" | "script_path" | "preload" | "input_schema" | "output_schema">;

const FIELDS = [
  ...CODE_FIELDS,
  "bundle_id",
  "script_path",
  "profile",
  "egress",
  "preload",
  "input_schema",
  "output_schema",
] as const;

export const REVISION_NAMES: Record<keyof RevisionContent, string> = text.fields;

/** The fields in which two differ. */
export const revisionDifferences = (
  one: RevisionContent,
  other: RevisionContent,
): (keyof RevisionContent)[] =>
  FIELDS.filter((field) => revisionText(one[field]) !== revisionText(other[field]));

/** A field as text. */
export const revisionText = (value: RevisionContent[keyof RevisionContent]): string =>
  value === null ? "" : typeof value === "string" ? value : toJson(value, 2);

/** "script, Python version". */
export const inWords = (fields: (keyof RevisionContent)[]): string =>
  fields.map((field) => text.fieldWords[field]).join(", ");
