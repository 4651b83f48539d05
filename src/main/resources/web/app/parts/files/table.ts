import { html, nothing, type TemplateResult } from "lit";
import { text } from "../../text/parts/files";

/** The most that a table shows. */
export const ROWS = 100;
export const COLUMNS = 50;
/** Of the text of a cell. */
const CHARACTERS = 500;

/** A column; `type` is nothing that a CSV file has. */
export interface Column {
  name: string;
  type?: string;
  isNumber?: boolean;
}

/** The beginning of a table; null is a value that is missing. */
export interface Table {
  columns: Column[];
  rows: (string | null)[][];
  /** What is left out, in sentences. */
  notes: string[];
}

/** A table whose content is text only, whatever is in the file. */
export const dataTable = (label: string, { columns, rows, notes }: Table): TemplateResult =>
  html`<div class="table-wrap data-table" role="group" aria-label=${label} tabindex="0">
      <table>
        <thead>
          <tr>
            ${columns.map(
              ({ name, type, isNumber }) =>
                html`<th scope="col" class=${isNumber ? "number" : ""}>
                  <span class="name">${cut(name)}</span>${type
                    ? html`<span class="type">${type}</span>`
                    : nothing}
                </th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                ${columns.map((column, i) => cell(row[i], column))}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="faint small">${notes.join(" ")}</p>`;

const cell = (value: string | null | undefined, { isNumber }: Column): TemplateResult =>
  value === undefined
    ? html`<td></td>`
    : value === null
      ? html`<td class=${isNumber ? "number" : ""}><span class="faint">${text.preview.null}</span></td>`
      : html`<td class=${isNumber ? "number" : ""}>${cut(value)}</td>`;

const cut = (value: string): string => (value.length > CHARACTERS ? value.slice(0, CHARACTERS) + "…" : value);
