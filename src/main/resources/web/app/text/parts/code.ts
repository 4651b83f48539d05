import { count, plural } from "../../core/format";

const SIGNATURE = "main(), main(request) or main(request, store)";

/** Texts of editors and of what they say about code, of comparisons and of JSON values. */
export const text = {
  diff: {
    text: "Text",
    comparing: "Comparing…",
    changes: (what: string) => `Changes: ${what}`,
    before: "Before",
    after: "After",
    change: "Change",
    line: "Line",
    unchanged: (lines: number) => plural(lines, "unchanged line"),
  },
  editor: {
    label: "Code",
    notLoaded: "The editor could not be loaded. Reload the page.",
    tabHasIndented: "Tab indents. Esc, then Tab to leave",
    tabIndents: "Tab indents while you type. Press Escape, then Tab, to leave the editor.",
    showValue: "Show value",
    hiddenValue: "hidden value",
  },
  imports: {
    add: (name: string) => `Add ${name}`,
    removed: (python: string, module: string, version: string) =>
      `Python ${python} has no module “${module}”: it was removed in ${version}.`,
    added: (python: string, module: string, version: string) =>
      `Python ${python} has no module “${module}”: it was added in ${version}.`,
    notProvided: (module: string) => `No requirement provides the module “${module}”.`,
  },
  requirements: {
    notPinned: (name: string, latest: string) => `“${name}” has no version. Pin one, for example ${latest}.`,
    withoutVersion: (name: string) => `“${name}” has no version. Write ${name}==<version>.`,
    pin: (version: string) => `Pin ${version}`,
  },
  invalidJson: (problem: string) => `Invalid JSON: ${problem}`,
  json: {
    value: "Value",
    raw: "Raw",
    copyAsJson: (name: string) => `Copy ${name} as JSON`,
    copy: "Copy",
    copied: (name: string) => `Copied ${name} as JSON.`,
    showAll: (size: string) => `Show all ${size}`,
    showCharacters: (characters: number) => `show all ${count(characters)} characters`,
    items: (items: number) => plural(items, "item"),
    keys: (keys: number) => plural(keys, "key"),
    showMore: (more: number, rest: number) => `show ${count(more)} of ${count(rest)} more`,
  },
  python: {
    notValid: "This is not valid Python.",
    noMain: `The script has no main. Define ${SIGNATURE}.`,
    tooManyParameters: (parameters: string[]) =>
      `main has more than two parameters without a default (${parameters.join(", ")}). Define ${SIGNATURE}, and give all others a default.`,
    keywordOnly: (parameters: string[]) =>
      `main has keyword-only parameters without a default (${parameters.join(", ")}). Define ${SIGNATURE}, and give all others a default.`,
  },
  ruff: {
    fix: "Fix",
    noResponse: "Ruff did not respond.",
    notLoaded: "Ruff could not be loaded.",
  },
};
