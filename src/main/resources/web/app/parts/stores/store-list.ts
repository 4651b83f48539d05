import { html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { requestTagged, get } from "../../core/api";
import { asProblem, Load } from "../../core/load";
import { signedIn } from "../../core/session";
import type { Agent, DataStore } from "../../core/types";
import { text } from "../../text/parts/stores";
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
        <h2>${text.list.title}</h2>
        ${signedIn.may("write")
          ? html`<button @click=${this.add}>${text.list.addExisting}</button>
              <button @click=${this.create}>${text.list.create}</button>`
          : nothing}
      </header>
      ${loaded(this.load, (stores) =>
        stores.length
          ? table(
              text.list.title,
              [
                ...STORE_COLUMNS,
                { title: text.list.inScript, cell: (store) => this.place(store, stores) },
                this.takeAway(),
              ],
              stores,
            )
          : emptyState(text.list.none, text.list.receivesNone),
      )}
    </div>`;
  }

  private place(store: DataStore, stores: DataStore[]): unknown {
    return store === stores[0]
      ? html`<span>${text.list.secondArgument}</span>`
      : text.list.byName(store.name);
  }

  private takeAway(): Column<DataStore> {
    return {
      title: "",
      cell: (store) =>
        signedIn.may("write")
          ? html`<span class="row-actions"
              ><button
                class="quiet"
                aria-label=${text.list.detachStore(store.name)}
                @click=${() => this.change((ids) => ids.filter((id) => id !== store.id))}
              >
                ${text.list.detach}
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
