import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { all, type FieldMistake } from "../../core/api";
import { Load, typed } from "../../core/load";
import type { DataStore } from "../../core/types";
import { text } from "../../text/parts/stores";
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
      <legend class="unseen">${text.choice.title}</legend>
      <header><h2>${text.choice.title}</h2></header>
      <div class="content column">
        <div class="row ways">
          ${this.way("own", way, text.choice.own, () => this.choose(null))}
          ${this.way("existing", way, text.choice.existing, () => this.choose([], true))}
          ${this.way("none", way, text.choice.none, () => this.choose([]))}
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
      return html`<p class="faint">${text.choice.noStores}</p>`;
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
                  >${chosen[0] === id
                    ? text.choice.sizeOfFirst(entries, agent_ids.length)
                    : text.choice.size(entries, agent_ids.length)}</span
                ></label
              >
            </li>`,
        )}
      </ul>
      <p class="faint small">${text.choice.about}</p>`;
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
