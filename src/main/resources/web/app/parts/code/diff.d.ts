/** The part of the package diff (jsdiff 4) that is used; it has no types of its own. */
declare module "diff" {
  export interface Change {
    value: string;
    count?: number;
    added?: boolean;
    removed?: boolean;
  }
  export function diffLines(before: string, after: string): Change[];
}
