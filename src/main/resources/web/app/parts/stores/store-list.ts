import { html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { requestTagged, get } from "../../core/api";
import { asProblem, Load } from "../../core/load";
import { signedIn } from "../../core/session";
import type { Agent, DataStore } from "../../core/types";
import { toast } from "../page/dialogs";
import { emptyState, loaded } from "../page/notices";
import { Part } from "../page/part";
import { chooseStore, createStore } from "./store-form";
import { STORE_COLUMNS } from "./stores";
import { table, type Column } from "../page/tables";

/** The DataStores of one agent, in the order in which it has them. */
@customElement("store-list")
export class StoreList extends Part {
  @property() agentId = "";
  private readonly load = new Load<DataStore[]>(
    this,
    async (signal) => {
      const agent = await get<Agent>(`/agents/${this.agentId}`, {}, signal);
      return Promise.all(agent.store_ids.map((id) => get<DataStore>(`/datastore/${id}`, {}, signal)));
    },
    ({ type, agent_id }) => type.startsWith("datastore.") || agent_id === this.agentId,
  );

  override updated(changed: Map<string, unknown>): void {
    if (changed.get("agentId") !== undefined && changed.get("agentId") !== "") {
      void this.load.again(true);
    }
  }

  override render() {
    return html`<div class="panel">
      <header>
        <h2>DataStores</h2>
        ${signedIn.may("write")
          ? html`<button @click=${this.add}>Add existing</button>
              <button @click=${this.create}>New DataStore</button>`
          : nothing}
      </header>
      ${loaded(this.load, (stores) =>
        stores.length
          ? table(
              "DataStores",
              [
                ...STORE_COLUMNS,
                { title: "In the script", cell: (store) => this.place(store, stores) },
                this.takeAway(),
              ],
              stores,
            )
          : emptyState(
              "This agent has no DataStore",
              html`<code>main</code> receives <code>None</code> as its second argument.`,
            ),
      )}
    </div>`;
  }

  private place(store: DataStore, stores: DataStore[]): unknown {
    return store === stores[0]
      ? html`<span>the second argument of <code>main</code></span>`
      : html`<code>request.stores["${store.name}"]</code>`;
  }

  private takeAway(): Column<DataStore> {
    return {
      title: "",
      cell: (store) =>
        signedIn.may("write")
          ? html`<span class="row-actions"
              ><button
                class="quiet"
                aria-label="Detach ${store.name}"
                @click=${() => this.change((ids) => ids.filter((id) => id !== store.id))}
              >
                Detach
              </button></span
            >`
          : nothing,
    };
  }

  private async add(): Promise<void> {
    const store = await chooseStore();
    if (store) {
      await this.change((ids) => (ids.includes(store.id) ? ids : [...ids, store.id]));
    }
  }

  private async create(): Promise<void> {
    const store = await createStore();
    if (store) {
      await this.change((ids) => [...ids, store.id]);
    }
  }

  /** With the entity tag, so that changes of another tab are not lost. */
  private async change(next: (ids: string[]) => string[]): Promise<void> {
    try {
      const { value, tag } = await requestTagged<Agent>("GET", `/agents/${this.agentId}`);
      await requestTagged("PATCH", `/agents/${this.agentId}`, {
        body: { store_ids: next(value.store_ids) },
        headers: tag ? { "If-Match": tag } : {},
      });
      await this.load.again();
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "store-list": StoreList;
  }
}
