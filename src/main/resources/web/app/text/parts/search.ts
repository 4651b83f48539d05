import type { SearchMatch } from "../../core/types";

/** Texts of the results of a search. */
export const text = {
  execution: (id: string) => `Execution ${id}`,
  /** Where the searched words were found. */
  places: {
    logs: "log",
    errors: "error",
    payloads: "payload",
    results: "return value",
  } satisfies Record<SearchMatch["in"], string>,
  open: {
    logs: "Open the log",
    errors: "Open the error",
    payloads: "Open the payload",
    results: "Open the return value",
  } satisfies Record<SearchMatch["in"], string>,
  openLine: (line: number) => `Open line ${line}`,
};
