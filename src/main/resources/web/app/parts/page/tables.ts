import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import type { PagedLoad } from "../../core/load";
import { loaded } from "./notices";

export interface Column<T> {
  title: string;
  cell: (row: T) => unknown;
  /** Figures stand at the right, below each other. */
  number?: boolean;
}

/** What a row is of: lists of other things' agents have no identifier of their own. */
type Row = { id: string } | { agent_id: string };

/** A table; on a phone each row becomes a block with its titles. */
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
            ({ title, number }) =>
              html`<th scope="col" class=${number ? "number" : ""}>
                ${title || html`<span class="unseen">Actions</span>`}
              </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${repeat(
          rows,
          (row) => ("id" in row ? row.id : row.agent_id),
          (row) =>
            html`<tr>
              ${columns.map(
                ({ title, cell, number }, i) =>
                  html`<td class=${number ? "number" : ""} data-label=${i && title ? title : nothing}>
                    ${cell(row)}
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** A list with a button for more rows, or its empty state. */
export function pagedTable<T extends Row>(
  label: string,
  columns: readonly Column<T>[],
  load: PagedLoad<T>,
  empty: () => unknown,
): unknown {
  return loaded(load, ({ data, next_cursor }) =>
    data.length === 0
      ? empty()
      : html`${table(label, columns, data)}
        ${next_cursor === null
          ? nothing
          : html`<div class="table-foot">
              <button class="quiet" ?disabled=${load.loading} @click=${() => load.more()}>
                ${load.loading ? "Loading…" : "Show more"}
              </button>
            </div>`}`,
  );
}
