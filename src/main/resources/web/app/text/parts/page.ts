import { html } from "lit";
import { bounded, count } from "../../core/format";
import type { Count } from "../../core/types";

/** Texts of what many pages are made of: dialogs, lists, notices and the like. */
export const text = {
  copying: {
    copy: "Copy",
    copied: "Copied",
    copyId: (id: string) => `Copy ${id}`,
  },
  dialogs: {
    typeToConfirm: (wanted: string) => html`Type <code>${wanted}</code> to confirm`,
    discardTitle: "Discard changes?",
    notSaved: "Your changes are not saved.",
    discard: "Discard",
    undo: "Undo",
  },
  listTools: {
    sort: "Sort",
    columns: "Columns",
  },
  notices: {
    request: (id: string) => html`request <code>${id}</code>`,
    missingRole: (key: unknown, role: unknown, what: string, required: string) =>
      html`You are signed in with the key “${key}” (role <code>${role}</code>). ${what} requires the role
        <code>${required}</code>.`,
  },
  rowKeys: {
    group: "Lists",
    next: "Next row",
    previous: "Previous row",
    select: "Select row",
  },
  savedViews: {
    label: "Saved views",
    notLoaded: "Views can't be loaded",
    views: "Views",
    none: "No saved views",
    save: "Save view",
    rename: "Rename view",
    delete: "Delete view",
    nameHint: "Shared with everyone who uses this Roost.",
    saved: (name: string) => `View ${name} saved for everyone.`,
    renamed: (name: string) => `View renamed to ${name}.`,
    deleteTitle: (name: string) => `Delete view ${name}?`,
    everyoneLoses: "Everyone loses the view. The list stays as it is.",
    deleted: (name: string) => `View ${name} deleted.`,
  },
  secret: {
    shownOnce: "It is shown only once.",
    done: "Done",
  },
  selection: {
    select: (name: string) => `Select ${name}`,
    label: "Selection",
    selected: (rows: number) => `${count(rows)} selected`,
    selectShown: "Select all shown",
    selectMatching: "Select all matching",
    clear: "Clear selection",
    onlyFirst: (rows: number) => `The first ${count(rows)} are selected. Narrow the filter to select others.`,
  },
  states: "States",
  tables: {
    actions: "Actions",
    /** An abbreviation keeps its capitals: "Sort by CPU". */
    sortBy: (column: string) =>
      `Sort by ${column.replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase())}`,
    shown: (rows: number) => `${count(rows)} shown`,
    shownOf: (rows: number, total: Count) => `${count(rows)} of ${bounded(total)} shown`,
  },
  /** The title of the browser's tab. */
  tabTitle: (symbol: string, agent: string, state: string) => `${symbol} ${agent} · ${state} · Roost`,
};
