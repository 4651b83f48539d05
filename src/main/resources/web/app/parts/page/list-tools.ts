import { html, nothing, type TemplateResult } from "lit";
import { router } from "../../core/router";
import { text } from "../../text/parts/page";
import type { Column } from "./tables";

/** Tools above a list. What they choose is in the address: `sort`, `columns` and `group`. */

/** A menu of orders. */
export const sortChoice = (
  orders: readonly (readonly [value: string, title: string])[],
  sort: string,
): TemplateResult =>
  html`<select
    aria-label=${text.listTools.sort}
    @change=${(event: Event) => router.query({ sort: (event.target as HTMLSelectElement).value })}
  >
    ${orders.map(
      ([value, title]) => html`<option value=${value} .selected=${sort === value}>${title}</option>`,
    )}
    ${orders.some(([value]) => value === sort)
      ? nothing
      : html`<option value=${sort} .selected=${true}>${sort}</option>`}
  </select>`;

/** The columns to show: those that the address names, or all. */
export function shownColumns<T>(columns: readonly Column<T>[], chosen: string): Column<T>[] {
  const keys = chosen.split(",").filter(Boolean);
  return columns.filter(({ key }, i) => !keys.length || !key || i === 0 || keys.includes(key));
}

/** A menu closes with Escape and with a click elsewhere. */
function closeMenus(except: Node | null): void {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) {
    menu.open = except !== null && menu.contains(except);
  }
}

document.addEventListener("pointerdown", ({ target }) => closeMenus(target as Node));

function closeByKey(event: KeyboardEvent): void {
  if (event.key === "Escape") {
    closeMenus(null);
    (event.currentTarget as HTMLElement).querySelector("summary")?.focus();
  }
}

/** Checkboxes for the columns, except the first, which names the row. */
export function columnChoice<T>(columns: readonly Column<T>[], chosen: string): TemplateResult {
  const optional = columns.slice(1).filter(({ key }) => key);
  const all = optional.map(({ key }) => key!);
  const current = chosen ? all.filter((key) => chosen.split(",").includes(key)) : all;
  const toggle = (key: string) => {
    const next = all.filter((other) => (other === key) !== current.includes(other));
    router.query({ columns: next.length === all.length ? null : next.join(",") || "none" });
  };
  return html`<details class="menu" @keydown=${closeByKey}>
    <summary class="button">
      ${text.listTools.columns}${chosen ? html` <span class="faint">${current.length}</span>` : nothing}
    </summary>
    <div class="menu-panel" role="group" aria-label=${text.listTools.columns}>
      ${optional.map(
        ({ key, title }) =>
          html`<label class="check"
            ><input
              type="checkbox"
              .checked=${current.includes(key!)}
              @change=${() => toggle(key!)}
            />${title}</label
          >`,
      )}
    </div>
  </details>`;
}
