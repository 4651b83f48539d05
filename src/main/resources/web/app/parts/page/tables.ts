import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import type { PagedLoad } from "../../core/load";
import { router } from "../../core/router";
import type { Count } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/page";
import { loaded } from "./notices";

export interface Column<T> {
  title: string;
  /** Its name in the address, if it can be hidden. */
  key?: string;
  /** The order of the list by this column that is used first. */
  sort?: string;
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
  sort?: string,
): TemplateResult {
  return html`<div class="table-wrap" role="region" aria-label=${label} tabindex="0">
    <table class="stacks">
      <thead>
        <tr>
          ${columns.map(
            ({ title, number, kind = "", sort: first }) =>
              html`<th
                scope="col"
                class="${kind} ${number ? "number" : ""}"
                aria-sort=${first && sort !== undefined ? direction(first, sort) : nothing}
              >
                ${first && sort !== undefined
                  ? sortButton(title, first, sort)
                  : title || html`<span class="unseen">${text.tables.actions}</span>`}
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

const keyOf = (order: string): string => order.replace(/^-/, "");

const direction = (first: string, sort: string): string =>
  keyOf(first) !== keyOf(sort) ? "none" : sort.startsWith("-") ? "descending" : "ascending";

/** Sorts by a column, and by the reverse order when it is the order already. */
function sortButton(title: string, first: string, sort: string): TemplateResult {
  const chosen = keyOf(first) === keyOf(sort);
  const reverse = sort.startsWith("-") ? keyOf(sort) : `-${sort}`;
  return html`<button
    class="sort"
    title=${text.tables.sortBy(title)}
    @click=${() => router.query({ sort: chosen ? reverse : first })}
  >
    ${title}${chosen ? html` <span aria-hidden="true">${sort.startsWith("-") ? "↓" : "↑"}</span>` : nothing}
  </button>`;
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
  sort?: string,
): unknown {
  return loaded(load, ({ data, next_cursor }) =>
    data.length === 0
      ? empty()
      : html`${table(label, columns, data, sort)}
        ${next_cursor === null
          ? nothing
          : html`<div class="table-foot">
              <span class="faint small">
                ${total ? text.tables.shownOf(data.length, total) : text.tables.shown(data.length)}
              </span>
              <button class="quiet" ?disabled=${load.loading} @click=${() => load.more()}>
                ${load.loading ? common.loading : common.showMore}
              </button>
            </div>`}`,
  );
}
