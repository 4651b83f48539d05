import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { all, type FieldMistake } from "../../core/api";
import { plural } from "../../core/format";
import { Load, typed } from "../../core/load";
import type { DataStore } from "../../core/types";
import { mistakeList } from "../forms/fields";
import { loaded } from "../page/notices";
import { Part } from "../page/part";

/** Which DataStores a new agent gets. Fires `change`. */
@customElement("store-choice")
export class StoreChoice extends Part {
  /** In the order in which the script gets them; null: a new one of its own. */
  @property({ attribute: false }) storeIds: string[] | null = null;
  @property({ attribute: false }) mistakes: FieldMistake[] = [];
  private choosing = false;
  private readonly load = new Load<DataStore[]>(
    this,
    (signal) => all<DataStore>("/datastore", {}, signal),
    typed("datastore"),
  );

  override render() {
    const chosen = this.storeIds ?? [];
    const way = this.storeIds === null ? "own" : chosen.length || this.choosing ? "existing" : "none";
    return html`<fieldset class="panel stores">
      <legend class="unseen">DataStores</legend>
      <header><h2>DataStores</h2></header>
      <div class="content column">
        <div class="row ways">
          ${this.way("own", way, "New DataStore", () => this.choose(null))}
          ${this.way("existing", way, "Existing DataStores", () => this.choose([], true))}
          ${this.way("none", way, "None", () => this.choose([]))}
        </div>
        ${way === "existing" ? loaded(this.load, (stores) => this.existing(stores, chosen)) : nothing}
        ${mistakeList("store_ids", this.mistakes)}
      </div>
    </fieldset>`;
  }

  private way(name: string, way: string, title: string, choose: () => void): TemplateResult {
    return html`<label class="check"
      ><input type="radio" name="stores" .checked=${name === way} @change=${choose} />${title}</label
    >`;
  }

  private existing(stores: DataStore[], chosen: string[]): TemplateResult {
    if (!stores.length) {
      return html`<p class="faint">No DataStores yet.</p>`;
    }
    const toggle = (id: string) =>
      this.choose(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id], true);
    return html`<ul class="choices">
        ${stores.map(
          ({ id, name, entries, agent_ids }) =>
            html`<li>
              <label class="check"
                ><input type="checkbox" .checked=${chosen.includes(id)} @change=${() => toggle(id)} /><span
                  >${name}</span
                ><span class="faint small"
                  >${plural(entries, "entry", "entries")},
                  ${plural(agent_ids.length, "agent")}${chosen[0] === id
                    ? html` · the <code>store</code> of <code>main</code>`
                    : nothing}</span
                ></label
              >
            </li>`,
        )}
      </ul>
      <p class="faint small">
        The first one chosen is the second parameter of <code>main</code>; all are in
        <code>request.stores</code> by name.
      </p>`;
  }

  private choose(storeIds: string[] | null, choosing = false): void {
    this.choosing = choosing;
    this.storeIds = storeIds;
    this.dispatchEvent(new Event("change"));
    this.requestUpdate();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "store-choice": StoreChoice;
  }
}
