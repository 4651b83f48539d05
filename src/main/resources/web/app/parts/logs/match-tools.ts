import { html, type TemplateResult } from "lit";
import { count, plural } from "../../core/format";

const NOTHING = { count: 0, current: -1 };

/** How many matches a search has and which one is shown, with buttons for the others; in its field, so that nothing moves. */
export function matchTools(
  found: { count: number; current: number } = NOTHING,
  step: (direction: 1 | -1) => void,
): TemplateResult {
  return html`<span class="small faint" role="status">${inWords(found)}</span
    ><button
      class="quiet icon"
      aria-label="Previous match"
      title="Previous (Shift Enter)"
      @click=${() => step(-1)}
    >
      ↑</button
    ><button class="quiet icon" aria-label="Next match" title="Next (Enter)" @click=${() => step(1)}>
      ↓
    </button>`;
}

function inWords({ count: matches, current }: { count: number; current: number }): string {
  if (matches === 0) {
    return "no matches";
  }
  return current < 0 ? plural(matches, "match", "matches") : `${count(current + 1)} of ${count(matches)}`;
}
