import { html, type TemplateResult } from "lit";

/** Views of one resource, each with its own address. The panel below is `<section id="panel">`. */
export function tabs(
  label: string,
  items: readonly { name: string; title: unknown; href: string }[],
  selected: string,
): TemplateResult {
  return html`<div role="tablist" aria-label=${label} @keydown=${move}>
    ${items.map(
      ({ name, title, href }) =>
        html`<a
          role="tab"
          id="tab-${name}"
          href=${href}
          aria-selected=${name === selected}
          aria-controls="panel"
          tabindex=${name === selected ? 0 : -1}
          >${title}</a
        >`,
    )}
  </div>`;
}

/** Arrow keys move between tabs. */
function move(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) {
    return;
  }
  const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]")];
  const here = items.indexOf(document.activeElement as HTMLElement);
  items[(here + step + items.length) % items.length]?.focus();
  event.preventDefault();
}
