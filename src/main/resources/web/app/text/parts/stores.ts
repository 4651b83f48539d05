import { html } from "lit";
import { count, plural } from "../../core/format";

const entriesAndAgents = (entries: number, agents: number): string =>
  `${plural(entries, "entry", "entries")}, ${plural(agents, "agent")}`;

const stored = (imported: number, expired: number): string =>
  expired
    ? `${plural(imported, "entry", "entries")} stored, ${count(expired)} skipped because they have expired.`
    : `${plural(imported, "entry", "entries")} stored.`;

/** Texts about DataStores and their entries. */
export const text = {
  columns: {
    entries: "Entries",
    size: "Size",
    agents: "Agents",
    moreAgents: (agents: number) => `and ${count(agents)} more`,
    noAgents: "none",
    lastWrite: "Last write",
    never: "never",
  },
  deletion: {
    title: (name: string) => `Delete DataStore ${name}?`,
    deletes: (entries: number, size: string) =>
      `Deletes ${plural(entries, "entry", "entries")} (${size}). This can't be undone. To keep a copy, export the entries first.`,
    usedBy: (agents: string[]) =>
      `Used by ${plural(agents.length, "agent")}, which ${agents.length === 1 ? "loses" : "lose"} access: ${agents.join(", ")}.`,
    confirm: "Delete DataStore",
    confirmUsed: "Detach and delete",
    done: (name: string) => `DataStore ${name} deleted.`,
  },
  /** The DataStores of an agent. */
  list: {
    title: "DataStores",
    addExisting: "Add existing",
    create: "New DataStore",
    inScript: "In the script",
    secondArgument: html`the second argument of <code>main</code>`,
    byName: (name: string) => html`<code>request.stores["${name}"]</code>`,
    detachStore: (name: string) => `Detach ${name}`,
    detach: "Detach",
    none: "This agent has no DataStore",
    receivesNone: html`<code>main</code> receives <code>None</code> as its second argument.`,
  },
  /** The DataStores of a new agent. */
  choice: {
    title: "DataStores",
    own: "New DataStore",
    existing: "Existing DataStores",
    none: "None",
    noStores: "No DataStores yet.",
    size: entriesAndAgents,
    sizeOfFirst: (entries: number, agents: number) =>
      html`${entriesAndAgents(entries, agents)} · the <code>store</code> of <code>main</code>`,
    about: html`The first one chosen is the second parameter of <code>main</code>; all are in
      <code>request.stores</code> by name.`,
  },
  form: {
    create: "New DataStore",
    confirmCreate: "Create DataStore",
    nameHint: html`Unique. Scripts with several DataStores read it as <code>request.stores["name"]</code>.
      Generated if empty.`,
    rename: (name: string) => `Rename DataStore ${name}`,
    renameHint: "Scripts that use the old name must be changed.",
    add: "Add DataStore",
    addHint: "Shared with the other agents that use it.",
    notFound: (name: string) => `No DataStore named “${name}”.`,
  },
  entries: {
    title: "Entries",
    key: "Key",
    value: "Value",
    changed: "Changed",
    changedAndExpires: (changed: unknown, expires: unknown) =>
      html`${changed}<span class="faint small">, expires ${expires}</span>`,
    noMatches: "No matching keys",
    noKey: (prefix: string) => html`No key begins with <code>${prefix}</code>. Keys are case-sensitive.`,
    none: "No entries yet",
    about: html`A script creates one with <code>store["key"] = value</code>. You can also use “New entry” or
      “Import”.`,
  },
  entry: {
    create: "New entry",
    close: "Close entry",
    notFound: "Entry not found",
    deletedOrExpired: "It was deleted or has expired.",
    key: "Key",
    keyHint: html`Any text, for example <code>user/42</code>.`,
    value: "Value",
    version: (version: number, changed: unknown) => html`Version ${version}, changed ${changed}`,
    expiringVersion: (version: number, changed: unknown, expires: unknown) =>
      html`Version ${version}, changed ${changed}, expires ${expires}`,
    saving: "Saving…",
    confirmCreate: "Create entry",
    format: "Format",
    notJson: "The value is not valid JSON",
    saved: (key: string) => `${key} saved.`,
    deleteTitle: "Delete entry?",
    deletes: (key: string) => html`Deletes <code>${key}</code> and its value.`,
    confirmDelete: "Delete entry",
    deleted: (key: string) => `${key} deleted.`,
    discardTitle: "Discard changes?",
    notSaved: (key: string) => html`Your changes to <code>${key}</code> are not saved.`,
    discard: "Discard",
  },
  expiry: {
    label: "Expires",
    never: "Never",
    unchanged: (time: string) => `Unchanged: ${time}`,
    afterSeconds: "After a number of seconds",
    seconds: "Seconds",
  },
  conflict: {
    changed: "This entry was changed while you were editing",
    deleted: "This entry was deleted while you were editing",
    changes: "Changes from the stored value to yours:",
    value: "Value",
    createsAgain: "Saving creates it again.",
    overwrite: "Overwrite",
    createAgain: "Create again",
    useStored: "Use stored value",
  },
  importing: {
    title: (store: string) => `Import into ${store}`,
    file: "JSON Lines file",
    fileHint: html`One entry per line, in the format of an export:
      <code>{"key": "user/42", "value": {"name": "Ada"}}</code>. Existing keys are overwritten; entries that
      aren't in the file are kept.`,
    sent: "Sent",
    progress: (sent: string, size: string, imported: number, expired: number) =>
      `${sent} of ${size}: ${stored(imported, expired)}`,
    result: (imported: number, expired: number) => `Done: ${stored(imported, expired)}`,
    chooseCorrected:
      "Choose the corrected file. Entries that are already stored are written again with the same values.",
    done: "Done",
    stop: "Stop",
    importing: "Importing…",
    again: "Import again",
    import: "Import",
    notReadable: "The file can't be read",
    fileChanged: "The file was changed or removed after you chose it. Choose it again.",
  },
};
