import { html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { requestExactly, toJson } from "../../core/api";
import { shownKey } from "../../core/entries";
import { Load } from "../../core/load";
import type { DataStore, Page, StoreEntry } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/stores";
import { timeAgo } from "../page/basics";
import { emptyState, loaded } from "../page/notices";
import { Part } from "../page/part";
import { openRow } from "../page/tables";

const PAGE = 100;
/** Of a value, as much as a line of a very wide screen shows. */
const PREVIEW = 500;

interface Row {
  key: string;
  preview: string;
  expires_at: string | null;
  updated_at: string;
}

interface Rows {
  rows: Row[];
  more: boolean;
}

/**
 * The sorted keys of a DataStore, or those with a prefix, with previews of their values. Only the rows that
 * are shown are read.
 */
@customElement("entry-list")
export class EntryList extends Part {
  @property({ attribute: false }) store!: DataStore;
  @property() begins = "";
  /** The key that is open. */
  @property({ attribute: false }) chosen: string | null = null;
  private rowLimit = PAGE;
  private readonly load = new Load<Rows>(
    this,
    (signal) => this.read(signal),
    // Writes emit no events; the writes of an execution are complete when it ends.
    ({ type, agent_id }) => type.startsWith("execution.") && this.store.agent_ids.includes(agent_id ?? ""),
  );

  override updated(changed: Map<string, unknown>): void {
    if (changed.get("begins") !== undefined) {
      this.rowLimit = PAGE;
      void this.load.again();
    }
  }

  /** Reads again, since something was written. */
  again(): void {
    void this.load.again();
  }

  override render() {
    return loaded(this.load, ({ rows, more }) =>
      rows.length === 0
        ? this.empty()
        : html`<div class="table-wrap" role="region" aria-label=${text.entries.title} tabindex="0">
              <table class="entries">
                <thead>
                  <tr>
                    <th scope="col">${text.entries.key}</th>
                    <th scope="col">${text.entries.value}</th>
                    <th scope="col" class="time">${text.entries.changed}</th>
                  </tr>
                </thead>
                <tbody @click=${openRow}>
                  ${rows.map((row) => this.row(row))}
                </tbody>
              </table>
            </div>
            ${more
              ? html`<div class="table-foot">
                  <button class="quiet" ?disabled=${this.load.loading} @click=${this.more}>
                    ${this.load.loading ? common.loading : common.showMore}
                  </button>
                </div>`
              : nothing}`,
    );
  }

  private row({ key, preview, expires_at, updated_at }: Row): unknown {
    const query = new URLSearchParams({ ...(this.begins && { prefix: this.begins }), key });
    return html`<tr class=${key === this.chosen ? "chosen" : ""}>
      <td>
        <a class="mono key" href="?${query}" aria-current=${key === this.chosen ? "true" : nothing}
          >${shownKey(key)}</a
        >
      </td>
      <td class="mono preview">${preview}</td>
      <td class="time">
        ${expires_at
          ? text.entries.changedAndExpires(timeAgo(updated_at), timeAgo(expires_at))
          : timeAgo(updated_at)}
      </td>
    </tr>`;
  }

  private empty(): unknown {
    return this.begins
      ? emptyState(text.entries.noMatches, text.entries.noKey(this.begins))
      : emptyState(text.entries.none, text.entries.about);
  }

  private more(): void {
    this.rowLimit += PAGE;
    void this.load.again();
  }

  private async read(signal: AbortSignal): Promise<Rows> {
    const rows: Row[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<StoreEntry> = (
        await requestExactly<Page<StoreEntry>>("GET", `/datastore/${this.store.id}/entries`, {
          query: { prefix: this.begins, limit: Math.min(200, this.rowLimit - rows.length), cursor },
          signal,
        })
      ).value;
      // Values may be large, and only their beginnings are kept.
      rows.push(
        ...page.data.map(({ value, ...row }) => ({ ...row, preview: toJson(value).slice(0, PREVIEW) })),
      );
      cursor = page.next_cursor;
    } while (cursor !== null && rows.length < this.rowLimit);
    return { rows, more: cursor !== null };
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "entry-list": EntryList;
  }
}
