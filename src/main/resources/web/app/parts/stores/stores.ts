import { html, nothing } from "lit";
import { requestBlob, get, remove } from "../../core/api";
import { bytes, count, plural } from "../../core/format";
import { asProblem } from "../../core/load";
import type { Agent, DataStore } from "../../core/types";
import "../agents/agent-link";
import { timeAgo } from "../page/basics";
import { confirmAction, toast } from "../page/dialogs";
import { saveFile } from "../page/save-file";
import type { Column } from "../page/tables";

/** Columns of lists of DataStores. */
export const STORE_COLUMNS: Column<DataStore>[] = [
  {
    title: "Name",
    cell: (store) => html`<a class="name" href="/stores/${store.id}">${store.name}</a>`,
    kind: "rest",
  },
  { title: "Entries", number: true, cell: (store) => count(store.entries) },
  { title: "Size", number: true, cell: (store) => bytes(store.size_bytes) },
  { title: "Agents", cell: agentsOf },
  { title: "Last write", cell: lastWrite },
];

/** A store has the time of its creation until it is written to. */
export function lastWrite({ created_at, updated_at, entries }: DataStore): unknown {
  return entries === 0 && updated_at === created_at
    ? html`<span class="faint">never</span>`
    : timeAgo(updated_at);
}

const MOST_AGENTS = 3;

/** The first agents that use a store, and how many more. */
export function agentsOf({ agent_ids }: DataStore): unknown {
  const more = agent_ids.length - MOST_AGENTS;
  return agent_ids.length
    ? html`<span class="row">
        ${agent_ids.slice(0, MOST_AGENTS).map((id) => html`<agent-link .agentId=${id}></agent-link>`)}
        ${more > 0 ? html`<span class="faint">and ${count(more)} more</span>` : nothing}
      </span>`
    : html`<span class="faint">none</span>`;
}

/** Downloads the entries with a key prefix as JSON Lines; reports a failure. */
export async function exportStore({ id, name }: DataStore, prefix: string): Promise<void> {
  try {
    saveFile(
      await requestBlob(`/datastore/${id}/export`, "application/x-ndjson", { prefix }),
      `${name}.ndjson`,
    );
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
  }
}

/** Deletes a store with its data after its name was typed; returns whether it was deleted. */
export async function deleteStore(id: string): Promise<boolean> {
  try {
    const store = await get<DataStore>(`/datastore/${id}`);
    const agents = await Promise.all(store.agent_ids.map((agent) => get<Agent>(`/agents/${agent}`)));
    const used = agents.length > 0;
    const sure = await confirmAction({
      title: `Delete DataStore ${store.name}?`,
      body: html`<p>
          Deletes ${plural(store.entries, "entry", "entries")} (${bytes(store.size_bytes)}). This can't be
          undone. To keep a copy, export the entries first.
        </p>
        ${used
          ? html`<p>
              Used by ${plural(agents.length, "agent")}, which ${agents.length === 1 ? "loses" : "lose"}
              access: ${agents.map(({ name }) => name).join(", ")}.
            </p>`
          : nothing}`,
      confirm: used ? "Detach and delete" : "Delete DataStore",
      danger: true,
      typed: store.entries > 0 || used ? store.name : undefined,
    });
    if (sure) {
      await remove(`/datastore/${id}`, used ? { force: true } : {});
      toast(`DataStore ${store.name} deleted.`);
    }
    return sure;
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
    return false;
  }
}
