import { draft, keepDraft } from "./drafts";

/** The pages that were visited last in this browser; they end with the session, like drafts. */

export interface Visited {
  path: string;
  title: string;
}

const MOST = 8;

/** The last one first. */
export const recentPages = (): Visited[] => draft<Visited[]>("recent") ?? [];

export function visited(path: string, title: string): void {
  keepDraft(
    "recent",
    [{ path, title }, ...recentPages().filter((page) => page.path !== path)].slice(0, MOST),
  );
}
