import { html, svg, type TemplateResult } from "lit";
import { count } from "../../core/format";
import { text } from "../../text/parts/charts";

/** How many executions of all succeeded: a bar, the share, and the figures. */
export function successRate({ succeeded, failed }: { succeeded: number; failed: number }): TemplateResult {
  const all = succeeded + failed;
  if (all === 0) {
    return html`<span class="faint">–</span>`;
  }
  // Rounded down: 100 % means that none failed.
  const percent = Math.floor((100 * succeeded) / all);
  return html`<span class="success-rate" title=${text.successes(succeeded, failed)}>
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      ${svg`<rect class="failed" width="100" height="6"></rect>
      <rect class="succeeded" width=${percent} height="6"></rect>`}
    </svg>
    <span class="number">${text.percent(percent)}</span>
    <span class="faint number">${count(succeeded)}/${count(all)}</span>
  </span>`;
}
