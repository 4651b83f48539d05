import { html, nothing, type TemplateResult } from "lit";
import { text } from "../text/pages/build-requirements";
import { namedLines } from "../parts/builds/named-requirements";

/** Requirements with their line numbers; those that the explanation names are marked. */
export function requirementList(requirements: string, explanation: string): TemplateResult {
  const concerned = new Set(namedLines(requirements, explanation));
  return html`<ol class="requirement-lines mono">
    ${requirements.split("\n").map(
      (line, i) =>
        html`<li class=${concerned.has(i + 1) ? "concerned" : ""}>
          <span class="faint">${i + 1}</span> <code>${line}</code>
          ${concerned.has(i + 1) ? html`<span class="unseen">${text.named}</span>` : nothing}
        </li>`,
    )}
  </ol>`;
}
