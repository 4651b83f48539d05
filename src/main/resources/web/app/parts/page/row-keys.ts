import { offer } from "../../core/shortcuts";
import { text } from "../../text/parts/page";

/** Keys for the rows of the page's lists: a row is where the focus is, and Enter opens its first link. */

const rows = (): HTMLTableRowElement[] =>
  [...document.querySelectorAll<HTMLTableRowElement>("main tbody tr")].filter(
    (row) => row.querySelector("a[href]") && row.checkVisibility(),
  );

function move(step: 1 | -1): void {
  const all = rows();
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + step));
  all[next]?.querySelector<HTMLElement>("a[href]")?.focus();
}

function select(): void {
  const row = document.activeElement?.closest("tr");
  row?.querySelector<HTMLInputElement>("input.select")?.click();
}

export function offerRowKeys(): void {
  const { group } = text.rowKeys;
  offer(
    { title: text.rowKeys.next, keys: "j", group, run: () => move(1) },
    { title: text.rowKeys.previous, keys: "k", group, run: () => move(-1) },
    { title: text.rowKeys.select, keys: "x", group, run: select },
  );
}
