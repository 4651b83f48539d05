import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { bounded, count } from "../../core/format";
import type { PagedLoad } from "../../core/load";
import type { Count } from "../../core/types";
import { loaded } from "./notices";

export interface Column<T> {
  title: string;
  cell: (row: T) => unknown;
  /** Figures stand at the right, below each other. */
  number?: boolean;
  /**
   * How the cell looks, by its classes: "wide" and "widest" only on wide screens; "rest" takes the space that is
   * left; "plain" needs no title on a phone.
   */
  kind?: string;
}

/** What a row is of: lists of other things' agents have no identifier of their own. */
type Row = { id: string } | { agent_id: string };

/**
 * A table; on a phone each row becomes a block with its titles. A click on a row that is on no control opens the
 * row's first link.
 */
export function table<T extends Row>(
  label: string,
  columns: readonly Column<T>[],
  rows: readonly T[],
): TemplateResult {
  return html`<div class="table-wrap" role="region" aria-label=${label} tabindex="0">
    <table class="stacks">
      <thead>
        <tr>
          ${columns.map(
            ({ title, number, kind = "" }) =>
              html`<th scope="col" class="${kind} ${number ? "number" : ""}">
                ${title || html`<span class="unseen">Actions</span>`}
              </th>`,
          )}
        </tr>
      </thead>
      <tbody @click=${openRow}>
        ${repeat(
          rows,
          (row) => ("id" in row ? row.id : row.agent_id),
          (row) =>
            html`<tr>
              ${columns.map(
                ({ title, cell, number, kind = "" }, i) =>
                  html`<td
                    class="${kind} ${number ? "number" : ""}"
                    data-label=${i && title ? title : nothing}
                  >
                    ${cell(row)}
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** For a table's body: what has text selected or a control under the pointer is not a click on the row. */
export function openRow(event: MouseEvent): void {
  const target = event.target as Element;
  const row = target.closest("tr");
  if (!target.closest("a, button, input, select, label, summary") && getSelection()?.isCollapsed) {
    row?.querySelector<HTMLAnchorElement>("a[href]")?.click();
  }
}

/** A list with a button for more rows, or its empty state. */
export function pagedTable<T extends Row>(
  label: string,
  columns: readonly Column<T>[],
  load: PagedLoad<T>,
  empty: () => unknown,
  total?: Count,
): unknown {
  return loaded(load, ({ data, next_cursor }) =>
    data.length === 0
      ? empty()
      : html`${table(label, columns, data)}
        ${next_cursor === null
          ? nothing
          : html`<div class="table-foot">
              <span class="faint small">
                ${count(data.length)}${total ? html` of ${bounded(total)}` : nothing} shown
              </span>
              <button class="quiet" ?disabled=${load.loading} @click=${() => load.more()}>
                ${load.loading ? "Loading…" : "Show more"}
              </button>
            </div>`}`,
  );
}
