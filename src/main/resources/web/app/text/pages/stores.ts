import { html } from "lit";

/** Texts of the page of DataStores. */
export const text = {
  title: "DataStores",
  search: "Search DataStores",
  create: "New DataStore",
  changing: "Changing DataStores",
  deleteStore: (name: string) => html`Delete<span class="unseen"> ${name}</span>`,
  noMatches: "No matching DataStores",
  noneHas: (words: string) => `No DataStore’s name has all words of “${words}”.`,
  showAll: "Show all DataStores",
  none: "No DataStores yet",
  about: html`A DataStore keeps JSON values by key between runs. A new agent gets its own, as the second
    argument of <code>main</code>. Agents can share a DataStore.`,
};
