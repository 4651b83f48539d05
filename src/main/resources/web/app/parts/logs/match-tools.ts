import { html, type TemplateResult } from "lit";
import { text } from "../../text/parts/logs";

const NOTHING = { count: 0, current: -1 };

/** How many matches a search has and which one is shown, with buttons for the others; in its field, so that nothing moves. */
export function matchTools(
  found: { count: number; current: number } = NOTHING,
  step: (direction: 1 | -1) => void,
): TemplateResult {
  return html`<span class="small faint" role="status">${inWords(found)}</span
    ><button
      class="quiet icon"
      aria-label=${text.matches.previous}
      title=${text.matches.previousTitle}
      @click=${() => step(-1)}
    >
      ↑</button
    ><button
      class="quiet icon"
      aria-label=${text.matches.next}
      title=${text.matches.nextTitle}
      @click=${() => step(1)}
    >
      ↓
    </button>`;
}

function inWords({ count: matches, current }: { count: number; current: number }): string {
  if (matches === 0) {
    return text.matches.none;
  }
  return current < 0 ? text.matches.found(matches) : text.matches.current(current + 1, matches);
}
