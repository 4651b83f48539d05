import { normalised } from "./package-names";

/** A requirement in a text. */
export interface Requirement {
  /** From 1. */
  line: number;
  /** As it is written. */
  name: string;
  extras: string;
  /** The pinned version; null: it has none, or allows several. */
  version: string | null;
  /** What follows the version, for example "; python_version < '3.12'  # comment". */
  rest: string;
}

const LINE =
  /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*([^;#]*?)\s*((?:;|\s#|#).*)?$/;
const PIN = /^={2,3}\s*([^\s,*]+)$/;

/** The requirements of a text; lines that are none are left out. */
export const requirementsIn = (text: string): Requirement[] =>
  text.split(/\r?\n/).flatMap((line, i) => {
    const [found, name, extras = "", constraint = "", rest = ""] = LINE.exec(line) ?? [];
    if (found === undefined || name === undefined || !/^([=<>!~@].*)?$/.test(constraint)) {
      return [];
    }
    return [{ line: i + 1, name, extras, version: PIN.exec(constraint)?.[1] ?? null, rest }];
  });

/** A text with one more requirement, at its end. */
export function withRequirement(text: string, requirement: string): string {
  const before = text.trimEnd();
  return before ? `${before}\n${requirement}\n` : `${requirement}\n`;
}

/** Whether a text requires a package. */
export const requires = (text: string, name: string): boolean =>
  requirementsIn(text).some((requirement) => normalised(requirement.name) === normalised(name));
