import { html, nothing } from "lit";
import { requestBlob, get, remove } from "../../core/api";
import { bytes, count } from "../../core/format";
import { asProblem } from "../../core/load";
import type { Agent, DataStore } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/stores";
import "../agents/agent-link";
import { timeAgo } from "../page/basics";
import { confirmAction, toast } from "../page/dialogs";
import { saveFile } from "../page/save-file";
import type { Column } from "../page/tables";

/** Columns of lists of DataStores. */
export const STORE_COLUMNS: Column<DataStore>[] = [
  {
    title: common.name,
    cell: (store) => html`<a class="name" href="/stores/${store.id}">${store.name}</a>`,
    kind: "rest",
  },
  { title: text.columns.entries, number: true, cell: (store) => count(store.entries) },
  { title: text.columns.size, number: true, cell: (store) => bytes(store.size_bytes) },
  { title: text.columns.agents, cell: agentsOf },
  { title: text.columns.lastWrite, cell: lastWrite },
];

/** A store has the time of its creation until it is written to. */
export function lastWrite({ created_at, updated_at, entries }: DataStore): unknown {
  return entries === 0 && updated_at === created_at
    ? html`<span class="faint">${text.columns.never}</span>`
    : timeAgo(updated_at);
}

const MOST_AGENTS = 3;

/** The first agents that use a store, and how many more. */
export function agentsOf({ agent_ids }: DataStore): unknown {
  const more = agent_ids.length - MOST_AGENTS;
  return agent_ids.length
    ? html`<span class="row">
        ${agent_ids.slice(0, MOST_AGENTS).map((id) => html`<agent-link .agentId=${id}></agent-link>`)}
        ${more > 0 ? html`<span class="faint">${text.columns.moreAgents(more)}</span>` : nothing}
      </span>`
    : html`<span class="faint">${text.columns.noAgents}</span>`;
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
      title: text.deletion.title(store.name),
      body: html`<p>${text.deletion.deletes(store.entries, bytes(store.size_bytes))}</p>
        ${used ? html`<p>${text.deletion.usedBy(agents.map(({ name }) => name))}</p>` : nothing}`,
      confirm: used ? text.deletion.confirmUsed : text.deletion.confirm,
      danger: true,
      typed: store.entries > 0 || used ? store.name : undefined,
    });
    if (sure) {
      await remove(`/datastore/${id}`, used ? { force: true } : {});
      toast(text.deletion.done(store.name));
    }
    return sure;
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
    return false;
  }
}
